// The generated text: what must be in it, and what must never get into it.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "codegen/emit/names.h"
#include "core/layout/plan.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

Emission emitted(const test::Lowering& from) {
  EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  for (const Refusal& r : result.refusals) UNSCOPED_INFO(r.rule << ": " << r.sentence);
  REQUIRE(result.emission.has_value());
  return *result.emission;
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("names become letters, digits and underscores, and are cut", "[codegen]") {
  CHECK(safe_name("load_q0") == "load_q0");
  CHECK(safe_name("a\"*/\n\\x") == "a_____x");
  CHECK(safe_name("") == "_");
  CHECK(safe_name(std::string(10'000, '"')) == std::string(32, '_'));
}

TEST_CASE("float literals read back as the same number", "[codegen]") {
  for (const float x : {0.0f, 1.0f, -1e30f, 0.127517431f, 3.4e38f, 1e-30f, 0.1f}) {
    const std::string text = float_literal(x);
    CHECK(text.back() == 'f');
    CHECK(text.find_first_of(".e") != std::string::npos);
    CHECK(std::stof(text) == x);
  }
}

TEST_CASE("coordinates are written from their coefficients", "[codegen]") {
  const auto text = [](const char* expr) {
    const auto affine = Expr::parse(expr)->affine({{"T", 8}}, {"i", "b"});
    return affine ? affine_text(*affine, {"i", "g_b"}) : "none";
  };
  CHECK(text("(i*T + b)*8 - 3") == "i * 64 + g_b * 8 - 3");
  CHECK(text("7") == "7");
  CHECK(text("i") == "i");
  CHECK(text("i*b") == "none");
  CHECK(text("i/2") == "none");
  CHECK(text("i/128*128") == "none");
  CHECK(text("i % 1000") == "none");
  CHECK(text("min(i, 40)") == "none");
  CHECK(text("nobody + 1") == "none");
  CHECK(text("(i*T + 20) / 4 + (b*16 + 3) % 8") == "i * 2 + 8");
  CHECK(text("if(T > 4, -i, b) * (T - 10)") == "i * 2");
  CHECK(text("ceil_div(b*8 + 1, 8)") == "g_b + 1");
  CHECK(text("i * 3000000000") == "none");
  CHECK(text("i / 0") == "none");
}

TEST_CASE("a kernel's text has its launch, its certificate and every op of every role", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) {
    const test::Lowering from = test::lowering(name);
    const Emission emission = emitted(from);
    CAPTURE(name);
    CHECK(emission.source.find("// certificate: none; the schedule's file says optimal") != std::string::npos);
    CHECK(emission.source.find("II " + std::to_string(from.schedule.ii) + " cycles") != std::string::npos);
    CHECK(emission.source.find("#include") == std::string::npos);
    for (const auto* list : {&from.kernel.body, &from.kernel.epilogue})
      for (const TileOp& op : *list) CHECK(emission.source.find("// " + op.name) != std::string::npos);
    CHECK(emission.launch.threads == 128 * static_cast<int>(from.schedule.groups.size()));
    CHECK(emission.launch.smem_bytes <= 232448);
    CHECK_FALSE(emission.launch.maps.empty());
    for (const TensorMapPlan& map : emission.launch.maps) {
      // cuTensorMapEncodeTiled: at most 256 elements per side of the box, 128 bytes wide under the 128-byte swizzle.
      for (const std::int64_t side : map.box) CHECK((side >= 1 && side <= 256));
      const int bytes = std::max(bits_of(from.kernel.tensors[map.tensor].dtype) / 8, 1);  // of what a box counts
      if (map.swizzle > 0) CHECK(map.box[0] * bytes == map.swizzle);
    }
    CHECK(count_of(emission.source, "{") == count_of(emission.source, "}"));
  }
}

TEST_CASE("a Blackwell kernel's text says that it has not run, and gives back the tensor memory that it takes", "[codegen]") {
  for (const std::string& name : test::blackwell_kernels())
    for (const int cluster : {1, 2}) {
      if (cluster == 2 && name != "gemm_blackwell") continue;
      const test::Lowering from = test::lowering(name);
      const Program program = test::program_of(from, {}, {.cluster = cluster});
      const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, program);
      CAPTURE(name, cluster);
      REQUIRE(result.emission.has_value());
      const std::string& source = result.emission->source;
      CHECK(source.starts_with("// " + name + ": CUDA C++ for sm_100a"));
      CHECK(source.find("not run on a GPU yet") < source.find("typedef"));
      CHECK(source.find("wgmma") == std::string::npos);
      CHECK(source.find("#include") == std::string::npos);
      for (const auto* list : {&from.kernel.body, &from.kernel.epilogue})
        for (const TileOp& op : *list) CHECK(source.find("// " + op.name) != std::string::npos);
      const std::string text = source.substr(source.find("extern \"C\""));
      const std::string suffix = cluster == 2 ? "_pair" : "", columns = std::to_string(program.tensor->columns);
      CHECK(count_of(text, "tensor_allocate" + suffix + "(") == 1);
      CHECK(count_of(text, "tensor_free" + suffix + "(tensor, " + columns + ");") == 1);
      // Every warpgroup leaves by itself; who frees waits for all others.
      const auto groups = std::count_if(program.roles.begin(), program.roles.end(), [](const Role& r) { return r.warpgroups > 0; });
      CHECK(count_of(text, "return;") == groups);
      if (cluster == 1) CHECK(count_of(text, "pass_turn<15, " + std::to_string(program.threads) + ">();") == groups);
      CHECK(count_of(source, "{") == count_of(source, "}"));
    }
}

TEST_CASE("the instruction descriptor of every Blackwell mma says its types, majors and widths", "[codegen]") {
  const auto bits = [](std::uint32_t shape, int at, int count) { return shape >> at & ((1u << count) - 1); };
  const auto shapes = [&](const std::string& name, const BuildOptions& options) {
    const test::Lowering from = test::lowering(name);
    const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from, {}, options));
    REQUIRE(result.emission.has_value());
    std::set<std::uint32_t> found;
    const std::string& text = result.emission->source;
    for (std::size_t at = text.find(", 0x"); at != std::string::npos; at = text.find(", 0x", at + 1)) {
      std::uint32_t shape = 0;
      std::from_chars(text.data() + at + 4, text.data() + text.size(), shape, 16);
      if (text.find("tensor_product", text.rfind('\n', at)) < at) found.insert(shape);
    }
    for (const std::uint32_t shape : found) {
      CHECK(bits(shape, 0, 4) == 0);   // dense
      CHECK(bits(shape, 4, 2) == 1);   // f32 results
      CHECK(bits(shape, 7, 3) == 1);   // bf16
      CHECK(bits(shape, 10, 3) == 1);  // bf16
      CHECK(bits(shape, 13, 2) == 0);  // nothing negated
      CHECK(bits(shape, 23, 1) == 0);
      CHECK(bits(shape, 24, 5) == (options.cluster == 2 ? 256u : 128u) / 16);
      CHECK(bits(shape, 29, 3) == 0);
    }
    return found;
  };
  const auto transposed = [&](std::uint32_t shape) { return std::pair{bits(shape, 15, 1), bits(shape, 16, 1)}; };
  using Majors = std::pair<std::uint32_t, std::uint32_t>;
  for (const int cluster : {1, 2}) {
    const auto gemm = shapes("gemm_blackwell", {.cluster = cluster});
    REQUIRE(gemm.size() == 1);
    CHECK(bits(*gemm.begin(), 17, 6) == 256 / 8);
    CHECK(transposed(*gemm.begin()) == Majors{0, 1});  // B is stored with N contiguous
  }
  std::set<Majors> majors;
  for (const std::uint32_t shape : shapes("attention_forward_blackwell", {})) majors.insert(transposed(shape));
  CHECK(majors == std::set<Majors>{{0, 0}, {0, 1}});  // Q K^T, P V
  majors.clear();
  for (const std::uint32_t shape : shapes("attention_backward_blackwell", {})) majors.insert(transposed(shape));
  CHECK(majors == std::set<Majors>{{0, 0}, {0, 1}, {1, 1}});  // dQ = dS^T K
}

TEST_CASE("on Blackwell one thread issues mmas, in a pair one of the first block", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_blackwell");
  const auto text_of = [&](int cluster) {
    const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from, {}, {.cluster = cluster}));
    REQUIRE(result.emission.has_value());
    return result.emission->source;
  };
  const std::string one = text_of(1), pair = text_of(2);
  CHECK(one.find("if (threadIdx.x >= 32 && threadIdx.x < 64 && elected()) {") != std::string::npos);
  CHECK(pair.find("if (rank == 0 && threadIdx.x >= 32 && threadIdx.x < 64 && elected()) {") != std::string::npos);
  // Each block of a pair loads its rows of A, which come with its place, and the half of B's columns that `rank` says.
  CHECK(count_of(pair, "+ rank * 128") == 2);
  CHECK(count_of(pair, "tma_load_pair(smem") == 3);
  CHECK(count_of(pair, "arrive_expect_leader(smem") == 2);
  CHECK(count_of(pair, "arrive_leader(smem") == 1);
  CHECK(count_of(one, "_pair(") == 0);
}

TEST_CASE("a warp whose factors are all one leaves its rows where they are, if the op says so", "[codegen]") {
  // FlashAttention-4's correction warps.
  test::Lowering from =
      test::lowering("attention_forward_blackwell", {}, "kernels/schedules/attention_forward_blackwell/fa4-noemu-nosplit.json");
  CHECK(emitted(from).source.find("__any_sync") == std::string::npos);
  for (TileOp& op : from.kernel.body)
    if (op.name == "rescale0" || op.name == "rescale1") op.attrs["skip_ones"] = true;
  const std::string source = emitted(from).source;
  const int all = count_of(source, "// write_o0 ") + count_of(source, "// write_o1 ");
  REQUIRE(all > 0);
  int inside = 0;
  for (std::size_t at = source.find("if (__any_sync("); at != std::string::npos; at = source.find("if (__any_sync(", at + 1)) {
    const std::size_t begin = source.rfind('\n', at) + 1;
    const std::size_t end = source.find("\n" + std::string(at - begin, ' ') + "}", at);
    const std::string skipped = source.substr(at, end - at);
    inside += count_of(skipped, "// write_o");
    CHECK(skipped.find("arrive(") == std::string::npos);
    CHECK(skipped.find("wait(") == std::string::npos);
  }
  CHECK(inside == all);
}

TEST_CASE("skipped factors and emulated powers on Blackwell compute what heddle eval computes", "[codegen][.slow]") {
  test::Lowering from = test::lowering("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}},
                                       "kernels/schedules/attention_forward_blackwell/fa4-noemu-nosplit.json");
  for (TileOp& op : from.kernel.body) {
    if (op.name.starts_with("rescale")) op.attrs["skip_ones"] = true;
    if (op.name == "exp0" || op.name == "exp1") op.attrs["emulated"] = std::int64_t{25};
  }
  CHECK(test::run_text(from, 1) < 4e-3);
}

TEST_CASE("the part of the powers that is emulated on Blackwell is spread over the elements", "[codegen]") {
  test::Lowering from = test::lowering("attention_forward_blackwell");
  CHECK(emitted(from).source.find("exp2_poly_") == std::string::npos);
  for (TileOp& op : from.kernel.body)
    if (op.name == "exp0") op.attrs["emulated"] = std::int64_t{25};
  CHECK(emitted(from).source.find("(e + 1) * 25 / 100 > e * 25 / 100 ? exp2_poly_(") != std::string::npos);
}

TEST_CASE("every line of a step knows its op, stage and slot", "[codegen]") {
  std::vector<std::string> names = test::lowered_kernels();
  names.insert(names.end(), test::blackwell_kernels().begin(), test::blackwell_kernels().end());
  for (const std::string& name : names) {
    const test::Lowering from = test::lowering(name);
    const Program program = test::program_of(from);
    const Emission emission = emitted(from);
    std::vector<std::string> lines{""};
    for (std::size_t at = 0; at < emission.source.size();) {
      const std::size_t end = emission.source.find('\n', at);
      lines.push_back(emission.source.substr(at, end - at));
      at = end + 1;
    }
    CAPTURE(name);
    int last = 0;
    std::vector<bool> seen(from.kernel.body.size(), false);
    for (const SourceSpan& span : emission.lines) {
      REQUIRE(span.first_line > last);
      REQUIRE(span.last_line >= span.first_line);
      REQUIRE(span.last_line < static_cast<int>(lines.size()));
      last = span.last_line;
      REQUIRE(span.role < program.roles.size());
      const std::string& first = lines[static_cast<std::size_t>(span.first_line)];
      if (span.kind == StepKind::Issue || span.kind == StepKind::Compute)
        CHECK(first.find(safe_name(op_of(from.kernel, span.op).name)) != std::string::npos);
      if (span.kind == StepKind::Wait) CHECK(first.find("wait(") != std::string::npos);
      if (span.op.list == OpRef::List::Body && span.slot >= 0) seen[span.op.index] = true;
    }
    CHECK(std::all_of(seen.begin(), seen.end(), [](bool s) { return s; }));
  }
}

TEST_CASE("the same schedule gives the same text", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  CHECK(emitted(from).source == emitted(from).source);
}

TEST_CASE("hostile names in a kernel file never reach the text", "[codegen]") {
  test::Lowering from = test::lowering("attention_forward_hopper");
  const std::string poison = "\"; */ asm(\"trap;\"); /*\n#include </etc/passwd>\n\\" + std::string(10'000, 'x') + "?>\x01\x1b[2J";
  std::map<std::string, std::string> renamed;
  const auto rename = [&](std::string& name) {
    const std::string old = name;
    if (!renamed.contains(old)) renamed[old] = poison + std::to_string(renamed.size());
    name = renamed[old];
  };
  Kernel& kernel = from.kernel;
  rename(kernel.name);
  for (TileValue& v : kernel.values) rename(v.name);
  for (Tensor& t : kernel.tensors) rename(t.name);
  for (auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (TileOp& op : *list) {
      op.name = "op " + poison + op.name;
      for (Operand& in : op.inputs) rename(in.value);
      for (std::string& out : op.outputs) rename(out);
      if (!op.tensor.empty()) rename(op.tensor);
    }
  for (ScheduleGroup& group : from.schedule.groups) group.role = poison;
  // Files with such names are refused when they are read; kernels made by a program may have them all the same.
  for (Value& v : from.problem.values) rename(v.name);
  for (Channel& c : from.problem.channels) rename(c.name);
  for (std::size_t i = 0; i < kernel.body.size(); ++i) from.problem.ops[i].name = kernel.body[i].name;
  const auto plan = std::make_shared<LayoutPlan>(*from.problem.layouts);
  plan->ops.clear();
  for (const auto& [name, op] : from.problem.layouts->ops) plan->ops["op " + poison + name] = op;
  from.problem.layouts = plan;
  for (Unit& u : from.problem.units) u.name = poison;
  from.problem.machine = poison;
  const std::string source = emitted(from).source;
  CHECK(source.find("passwd") == std::string::npos);
  CHECK(source.find("trap;") == std::string::npos);
  CHECK(source.find("*/") == std::string::npos);
  CHECK(source.find("#include") == std::string::npos);
  CHECK(source.find("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx") == std::string::npos);
  CHECK(source.size() < 80'000);
  CHECK(std::all_of(source.begin(), source.end(), [](char c) { return c == '\n' || (c >= 32 && c < 127); }));
}

TEST_CASE("a vector that says fewer registers than its threads hold is refused with their number", "[codegen]") {
  const std::map<std::string, std::string> options{
      {"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}};
  test::Lowering from = test::lowered_pattern("gemm_epilogue", "gemm", options, {{"M", 256}, {"N", 256}, {"K", 128}});
  const Program program = test::program_of(from);
  CHECK(emit_cuda(from.kernel, from.problem, from.schedule, program).emission.has_value());
  for (TileValue& value : from.kernel.values)
    if (value.name == "bias") value.registers.reset();
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.refusals.size() == 1);
  CHECK(emitted.refusals[0].sentence == "'bias' lies in 64 registers of every thread, and its file says 2 (\"registers\": 64)");
}

TEST_CASE("what cannot be written is refused by name", "[codegen]") {
  test::Lowering from = test::lowering("attention_forward_hopper");
  const Program program = test::program_of(from);
  const auto rule_of = [&](const Kernel& kernel) {
    const EmitResult result = emit_cuda(kernel, from.problem, from.schedule, program);
    CHECK_FALSE(result.emission.has_value());
    return result.refusals.empty() ? std::string() : result.refusals.front().rule;
  };
  Kernel kernel = from.kernel;
  kernel.body[0].at[1] = *Expr::parse("cbrt(i)*64");
  CHECK(rule_of(kernel) == "coordinates");
  kernel = from.kernel;
  kernel.body[5].attrs["scale"] = std::string("1e999");
  CHECK(rule_of(kernel) == "attribute");
  kernel = from.kernel;
  kernel.body[5].attrs["fn"] = std::string("*/ evil");
  CHECK(rule_of(kernel) == "function");
  kernel = from.kernel;
  kernel.tensors[1].dtype = DType::F32;
  CHECK(rule_of(kernel) == "tensor_map");
}

TEST_CASE("what cannot be written for Blackwell is refused by name", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_blackwell");
  const Program program = test::program_of(from);
  const auto refusal_of = [&](const Kernel& kernel, const Program& of) {
    const EmitResult result = emit_cuda(kernel, from.problem, from.schedule, of);
    CHECK_FALSE(result.emission.has_value());
    return result.refusals.empty() ? Refusal() : result.refusals.front();
  };
  const auto value_of = [](Kernel& kernel, const std::string& name) -> TileValue& {
    return *std::find_if(kernel.values.begin(), kernel.values.end(), [&](const TileValue& v) { return v.name == name; });
  };
  Program moved = program;
  for (Role& role : moved.roles)
    for (codegen::Section& section : role.sections)
      for (Step& step : section.steps)
        if (step.kind == StepKind::Issue && step.engine == Engine::Mma) step.output.kind = codegen::Place::Kind::Variable;
  CHECK(refusal_of(from.kernel, moved).sentence == "'MMA' needs its accumulator in tensor memory");
  Kernel kernel = from.kernel;
  value_of(kernel, "a").shape[0] = *Expr::parse("64");
  CHECK(refusal_of(kernel, program).sentence == "'MMA' is no mma of 128 rows");
  kernel = from.kernel;
  value_of(kernel, "h").shape[0] = *Expr::parse("64");
  CHECK(refusal_of(kernel, program).rule == "layout");
  kernel = from.kernel;
  value_of(kernel, "a").dtype = DType::F32;
  CHECK(refusal_of(kernel, program).rule != "");
}
