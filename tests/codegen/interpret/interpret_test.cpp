// Programs under many interleavings: with names for data, where a race shows at once, and with real data, where the
// result must be that of heddle eval.
#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "core/kernel/evaluate.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

void run_many(const std::string& name, int interleavings) {
  const test::Lowering from = test::lowering(name);
  const int depth = test::deepest(test::program_of(from));
  for (const std::int64_t trips :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{depth - 1}, std::int64_t{depth}, std::int64_t{depth + 1}, std::int64_t{19}}) {
    if (trips < 1) continue;
    const Program program = test::program_of(from, trips);
    for (int k = 0; k < interleavings; ++k) {
      const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 1 + k % 3});
      if (!fault) continue;
      CAPTURE(name, trips, k);
      REQUIRE(to_string(*fault) == "");
    }
  }
}

/// `tiles` 0: one to three per block.
void compare_with_eval(const test::Lowering& from, int interleavings, std::int64_t tiles = 0, const BuildOptions& options = {}) {
  const std::string name = from.kernel.name;
  const Program program = test::program_of(from, {}, options);
  auto expected = make_tensors(from.kernel, from.problem.params, 5);
  REQUIRE(expected.ok());
  TensorMap start = *expected;
  REQUIRE(execute(from.kernel, from.problem.params, *expected).ok());
  for (int k = 0; k < interleavings; ++k) {
    TensorMap tensors = start;
    CAPTURE(name, k);
    const auto fault =
        run_with_data(from.kernel, program, tensors, {.seed = static_cast<std::uint64_t>(k), .tiles = tiles ? tiles : 1 + k % 3});
    REQUIRE(fault.ok());
    if (*fault) REQUIRE(to_string(**fault) == "");
    for (const auto& [tensor, computed] : tensors) {
      CAPTURE(tensor);
      // Bit for bit: the same operations in the same order for every element.
      REQUIRE(computed.array.data.size() == expected->at(tensor).array.data.size());
      const bool equal = computed.array.data == expected->at(tensor).array.data;
      REQUIRE(equal);
    }
  }
}

void compare_with_eval(const std::string& name, const Scope& sizes, int interleavings, std::int64_t tiles = 0,
                       const BuildOptions& options = {}) {
  compare_with_eval(test::lowering(name, sizes), interleavings, tiles, options);
}

}  // namespace

TEST_CASE("programs of the shipped kernels survive random and adversarial interleavings for short and long loops", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) run_many(name, 300);
}

TEST_CASE("programs for Blackwell survive random and adversarial interleavings for short and long loops", "[codegen]") {
  for (const std::string& name : test::blackwell_kernels()) run_many(name, 200);
}

TEST_CASE("pairs of blocks with one mma for both survive interleavings and compute what heddle eval computes", "[codegen]") {
  const BuildOptions pairs{.cluster = 2};
  const test::Lowering from = test::lowering("gemm_blackwell");
  for (const std::int64_t trips : {1, 2, 5, 13}) {
    const Program program = test::program_of(from, trips, pairs);
    REQUIRE(program.pair);
    for (int k = 0; k < 200; ++k) {
      const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 1 + k % 3});
      CAPTURE(trips, k);
      if (fault) REQUIRE(to_string(*fault) == "");
    }
  }
  compare_with_eval("gemm_blackwell", {{"M", 512}, {"N", 512}, {"K", 320}}, 3, 0, pairs);
  compare_with_eval("gemm_blackwell", {{"M", 256}, {"N", 256}, {"K", 64}}, 3, 0, pairs);
}

TEST_CASE("hand schedules for Blackwell survive interleavings", "[codegen]") {
  for (const char* path :
       {"attention_forward_blackwell/fa4-noemu-nosplit", "attention_forward_parts_blackwell/fa4-noemu",
        "attention_forward_emulated_blackwell/fa4-nosplit", "attention_forward_tile_blackwell/fa4-1q", "gemm_blackwell/cutlass-sm100"}) {
    const std::string file = path;
    const test::Lowering from = test::lowering(file.substr(0, file.find('/')), {}, "kernels/schedules/" + file + ".json");
    for (const std::int64_t trips : {1, 2, 3, 8}) {
      const Program program = test::program_of(from, trips);
      for (int k = 0; k < 100; ++k) {
        const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 1 + k % 3});
        CAPTURE(file, trips, k);
        if (fault) REQUIRE(to_string(*fault) == "");
      }
    }
  }
}

TEST_CASE("programs of the shipped kernels survive 10 000 interleavings", "[codegen][.slow]") {
  for (const std::string& name : test::lowered_kernels()) run_many(name, 10'000);
  for (const char* name : {"attention_backward_hopper", "attention_backward_causal_hopper"}) run_many(name, 3'000);
  for (const std::string& name : test::blackwell_kernels()) run_many(name, 3'000);
}

TEST_CASE("a run of many trips ends soon after it is asked to stop", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  const Program program = test::program_of(from, 10'000);
  std::stop_source source;
  source.request_stop();
  CHECK_FALSE(run_symbolic(from.kernel, program, {.seed = 1, .tiles = 1, .stop = source.get_token()}).has_value());
}

TEST_CASE("tiles under a causal mask have trips of their own, and any of them runs", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_causal_hopper");
  const Program program = test::program_of(from);
  CHECK(program.varies);
  CHECK(program.trips == 66);
  CHECK(program.least_trips == 2);
  CHECK(rounded_trips(program, 0) == 2);
  CHECK(rounded_trips(program, 40) == 40);
  CHECK(rounded_trips(program, 99) == 66);
  for (int k = 0; k < 300; ++k) {
    const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 3});
    if (fault) REQUIRE(to_string(*fault) == "");
  }
  // A role that counts differently is found out.
  Program wrong = program;
  for (codegen::Section& section : wrong.roles[1].sections)
    if (section.loop) section.times -= 1;
  bool found = false;
  for (std::uint64_t seed = 0; seed < 20 && !found; ++seed)
    found = run_symbolic(from.kernel, wrong, {.seed = seed, .tiles = 2}).has_value();
  CHECK(found);
}

TEST_CASE("more trips than a masked tile needs change nothing", "[codegen]") {
  Kernel kernel = test::lowering("attention_forward_causal_hopper").kernel;
  const auto scope = parameter_scope(kernel, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}}, true);
  REQUIRE(scope.ok());
  auto few = make_tensors(kernel, *scope, 7);
  REQUIRE(few.ok());
  TensorMap many = *few;
  REQUIRE(execute(kernel, *scope, *few).ok());
  kernel.loop.tile_trips.reset();
  REQUIRE(execute(kernel, *scope, many).ok());
  CHECK(few->at("O").array.data == many.at("O").array.data);
}

TEST_CASE("turns that do not come out even are found out", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  const Program program = test::program_of(from, 9);
  for (std::size_t r = 1; r <= 2; ++r)
    for (const StepKind kind : {StepKind::TakeTurn, StepKind::PassTurn}) {
      Program wrong = program;
      for (codegen::Section& section : wrong.roles[r].sections)
        if (section.loop) std::erase_if(section.steps, [&](const Step& s) { return s.kind == kind; });
      bool found = false;
      for (std::uint64_t seed = 0; seed < 50 && !found; ++seed)
        if (const auto fault = run_symbolic(from.kernel, wrong, {.seed = seed, .tiles = 2}))
          found = fault->kind == FaultKind::Turns || fault->kind == FaultKind::Deadlock;
      CHECK(found);
    }
}

TEST_CASE("pairs of blocks that load for each other survive interleavings and compute what heddle eval computes", "[codegen]") {
  const BuildOptions pairs{.cluster = 2};
  for (const char* name : {"gemm_hopper", "attention_forward_hopper", "attention_forward_causal_hopper", "swiglu_dual_gemm_hopper",
                           "gemm_fp8_hopper", "gemm_w4a16_hopper"}) {
    const test::Lowering from = test::lowering(name);
    for (const std::int64_t trips : {1, 2, 3, 4, 9}) {
      const Program program = test::program_of(from, trips, pairs);
      CHECK(program.cluster == 2);
      for (int k = 0; k < 100; ++k) {
        const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 1 + k % 3});
        CAPTURE(name, trips, k);
        if (fault) REQUIRE(to_string(*fault) == "");
      }
    }
  }
  compare_with_eval("gemm_hopper", {{"M", 512}, {"N", 512}, {"K", 320}}, 3, 0, pairs);
  compare_with_eval("gemm_hopper", {{"M", 300}, {"N", 264}, {"K", 72}}, 3, 0, pairs);
  compare_with_eval("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 2, 0, pairs);
  compare_with_eval("attention_forward_causal_hopper", {{"HEADS", 1}, {"Q_LEN", 384}, {"KV_LEN", 640}}, 2, 0, pairs);
}

TEST_CASE("a slot that is free in one block of a pair only is not free", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  const Program program = test::program_of(from, 9, {.cluster = 2});
  const auto caught = [&](const Program& wrong) {
    for (std::uint64_t seed = 0; seed < 200; ++seed)
      if (run_symbolic(from.kernel, wrong, {.seed = seed, .tiles = 2})) return true;
    return false;
  };
  std::size_t shared = 0;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (!program.buffers[b].shared) continue;
    ++shared;
    Program wrong = program;
    wrong.barriers[*program.buffers[b].empty].arrivals /= 2;  // either block's readers would do
    CHECK(caught(wrong));
    wrong = program;
    wrong.buffers[b].shared = false;  // nobody brings the other half
    CHECK(caught(wrong));
  }
  CHECK(shared == 1);
}

TEST_CASE("hand schedules survive interleavings, with wide key tiles too", "[codegen]") {
  const std::string folder = "kernels/schedules/attention_forward_hopper/";
  for (const char* hand : {"fa3", "fa3-overlap", "fa3-pingpong", "fa3-kv176", "fa3-overlap-kv176", "fa3-pingpong-kv176"}) {
    const Scope params{{"KV", std::string_view(hand).ends_with("176") ? 176 : 128}};
    const test::Lowering from = test::lowering("attention_forward_hopper", params, folder + hand + ".json");
    for (const std::int64_t trips : {1, 2, 3, 8}) {
      const Program program = test::program_of(from, trips);
      for (int k = 0; k < 60; ++k) {
        const auto fault = run_symbolic(from.kernel, program, {.seed = static_cast<std::uint64_t>(k), .tiles = 1 + k % 3});
        CAPTURE(hand, trips, k);
        if (fault) REQUIRE(to_string(*fault) == "");
      }
    }
  }
}

TEST_CASE("results that are stored panel by panel survive interleavings and are what heddle eval computes", "[codegen]") {
  const std::string schedule = "kernels/schedules/gemm_hopper/cutlass-cooperative.json";
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 192}}, schedule);
  const Program program = test::program_of(from);
  const auto expected = [&](const Program& p, std::uint64_t seed) { return run_symbolic(from.kernel, p, {.seed = seed, .tiles = 3}); };
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto fault = expected(program, seed);
    CAPTURE(seed);
    if (fault) REQUIRE(to_string(*fault) == "");
  }
  // One piece too many in flight, or a piece stored under another's number, shows.
  for (const bool number : {false, true}) {
    Program wrong = program;
    for (codegen::Section& section : wrong.roles[1].sections)
      for (Step& step : section.steps) {
        if (!number && step.kind == StepKind::Retire && step.engine == Engine::Store) ++step.keep;
        if (number && step.kind == StepKind::Issue && step.engine == Engine::Store) step.piece.number ^= 1;
      }
    bool found = false;
    for (std::uint64_t seed = 0; seed < 100 && !found; ++seed) found = expected(wrong, seed).has_value();
    CHECK(found);
  }
  auto tensors = make_tensors(from.kernel, from.problem.params, 3);
  REQUIRE(tensors.ok());
  TensorMap wanted = *tensors;
  REQUIRE(execute(from.kernel, from.problem.params, wanted).ok());
  const auto fault = run_with_data(from.kernel, program, *tensors, {.seed = 5, .tiles = 2});
  REQUIRE(fault.ok());
  CHECK_FALSE(fault->has_value());
  CHECK(tensors->at("C").array.data == wanted.at("C").array.data);
}

TEST_CASE("attention backward survives interleavings and computes what heddle eval computes", "[codegen]") {
  run_many("attention_backward_hopper", 60);
  compare_with_eval("attention_backward_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}}, 2, 1);
  run_many("attention_backward_causal_hopper", 60);
  compare_with_eval("attention_backward_causal_hopper", {{"HEADS", 1}, {"Q_LEN", 192}, {"KV_LEN", 256}}, 2, 1);
}

TEST_CASE("wherever loops are cut, programs survive interleavings", "[codegen]") {
  for (const char* name : {"attention_backward_hopper", "attention_forward_hopper"}) {
    const test::Lowering from = test::lowering(name);
    for (int choice = 0; choice < 8; ++choice) {
      const Program program = test::program_of(from, 9, {.cuts = {choice, choice, choice}});
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const auto fault = run_symbolic(from.kernel, program, {.seed = seed, .tiles = 2});
        CAPTURE(name, choice, seed);
        if (fault) REQUIRE(to_string(*fault) == "");
      }
    }
  }
}

TEST_CASE("a program computes what heddle eval computes, bit for bit", "[codegen]") {
  compare_with_eval("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, 3);
  compare_with_eval("gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 64}}, 6);
  compare_with_eval("swiglu_dual_gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 192}}, 3);
  compare_with_eval("gemm_fp8_hopper", {{"M", 200}, {"N", 256}, {"K", 512}}, 3);
  compare_with_eval("gemm_w4a16_hopper", {{"N_OUT", 200}, {"TOKENS", 40}, {"K", 416}}, 3);
  compare_with_eval("gemm_w4a16_prepacked_hopper", {{"N_OUT", 192}, {"TOKENS", 40}, {"K", 448}}, 3);
  compare_with_eval("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 3);
  compare_with_eval("attention_forward_hopper", {{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 128}}, 3);
  compare_with_eval("attention_forward_causal_hopper", {{"HEADS", 2}, {"Q_LEN", 384}, {"KV_LEN", 640}}, 3);
  compare_with_eval("attention_forward_causal_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, 3);
  compare_with_eval("attention_forward_fp8_hopper", {{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 384}}, 3);
  compare_with_eval("attention_forward_fp8_turned_hopper", {{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 384}}, 3);
  compare_with_eval("attention_forward_hopper", {{"HEADS", 2}, {"Q_LEN", 200}, {"KV_LEN", 384}, {"LSE", 1}}, 3);
  compare_with_eval("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 256}, {"LSE", 1}}, 3);
  compare_with_eval("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}, 6);
  compare_with_eval("attention_delta", {{"ROWS", 203}, {"BLOCKS", 3}}, 6);
  compare_with_eval("attention_round_dq", {{"ROWS", 203}, {"BLOCKS", 3}}, 6);
  compare_with_eval("embedding_bag_hopper", {{"BAGS", 19}, {"ROWS", 50}, {"EACH", 5}}, 6);
  compare_with_eval("gemm_gather_hopper", {{"BLOCKS", 2}, {"M", 100}, {"N", 264}, {"K", 136}}, 3);
}

TEST_CASE("a program that gathers rows by an index, whose slot is free once the loads are issued, computes what heddle eval computes",
          "[codegen]") {
  compare_with_eval(test::lowered_fixture("gemm_gather", {{"M", 100}, {"N", 200}, {"K", 136}, {"BLOCKS", 3}}), 6);
  compare_with_eval(test::lowered_fixture("gemm_gather", {{"M", 100}, {"N", 128}, {"K", 64}, {"BLOCKS", 4}}), 6);
}

TEST_CASE("programs with narrow types and tiles that threads fetch compute what heddle eval computes, bit for bit", "[codegen]") {
  for (const char* name : {"gemm_fetched", "gemm_quantized", "gemm_turned", "gemm_w4a16"})
    compare_with_eval(test::lowered_fixture(name, {{"F", 256}, {"T", 64}, {"K", 320}}), 3);
  compare_with_eval(test::lowered_fixture("gemm_fp8", {{"M", 200}, {"N", 200}, {"K", 272}}), 3);
}

TEST_CASE("a program for Blackwell computes what heddle eval computes, bit for bit", "[codegen]") {
  compare_with_eval("gemm_blackwell", {{"M", 256}, {"N", 512}, {"K", 320}}, 3);
  compare_with_eval("gemm_blackwell", {{"M", 128}, {"N", 256}, {"K", 64}}, 3);
  compare_with_eval("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 384}}, 3);
  compare_with_eval("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 128}}, 3);
  compare_with_eval("attention_backward_blackwell", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}}, 2, 1);
  compare_with_eval("attention_backward_causal_blackwell", {{"HEADS", 1}, {"Q_LEN", 192}, {"KV_LEN", 256}}, 2, 1);
}

TEST_CASE("a program whose epilogue loads vectors and matrices computes what heddle eval computes, bit for bit", "[codegen]") {
  const std::map<std::string, std::string> options{
      {"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}};
  const test::Lowering from = test::lowered_pattern("gemm_epilogue", "gemm", options, {{"M", 200}, {"N", 328}, {"K", 200}});
  compare_with_eval(from, 3);
  const Program program = test::program_of(from);
  int loads = 0;  // of the bias: one for each of the two roles that add it
  for (const Role& role : program.roles)
    for (const codegen::Section& section : role.sections)
      for (const Step& step : section.steps) loads += step.kind == StepKind::Compute && op_of(from.kernel, step.op).name == "load_bias";
  CHECK(loads == 2);
}
