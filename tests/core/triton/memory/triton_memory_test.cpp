// What Triton's own compiler says of the memory of kernels, against what is counted from their texts before the passes that allocate it.
// The figures in the two truth.json are Triton's.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/triton/memory/allocate.h"
#include "core/triton/memory/memory.h"
#include "core/triton/memory/scratch.h"
#include "core/triton/read/linear.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

std::string folder(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }

TritonProgram program_of(const std::string& path) {
  Result<std::string> text = read_file(path);
  REQUIRE(text.ok());
  Result<mlir::Module> module = mlir::parse(std::move(*text), path);
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(std::move(*module));
  REQUIRE(program.ok());
  return std::move(*program);
}

struct Truth {
  std::int64_t shared = 0, columns = 0, warps = 0;
};

std::map<std::string, Truth> truth_of(const std::string& path) {
  const Result<std::string> text = read_file(path);
  REQUIRE(text.ok());
  const Result<Json> json = parse_json(*text, path);
  REQUIRE(json.ok());
  std::map<std::string, Truth> out;
  REQUIRE(json->members());
  for (const JsonMember& member : *json->members()) {
    const auto number = [&](const char* name) { return *member.value.find(name)->integer(); };
    out[member.key] = {number("shared_bytes"), number("tmem_columns"), number("warps")};
  }
  return out;
}

void check(const std::string& path, const Truth& truth) {
  INFO(path);
  const TritonMemory memory = memory_of(program_of(path));
  CHECK(memory.shared_bytes == truth.shared);
  CHECK(memory.tmem_columns == truth.columns);
  CHECK(memory.warps == truth.warps);
  CHECK(memory.unsure == "");
  CHECK(std::ranges::none_of(memory.buffers,
                             [](const TritonBuffer& buffer) { return buffer.why.empty() || buffer.name.empty() || !buffer.op.valid(); }));
}

const LoopSite& only_pipelined_loop(const TritonProgram& program) {
  const auto found = std::ranges::find_if(program.loops, [&](const LoopSite& loop) { return !rings_of(program, loop).empty(); });
  REQUIRE(found != program.loops.end());
  return *found;
}

/// Slots and bytes of what is copied ahead, in no order.
std::vector<std::pair<std::int64_t, std::int64_t>> depths(const TritonProgram& program) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  for (const LoopSite& loop : program.loops)
    for (const TritonBuffer& ring : rings_of(program, loop))
      if (ring.slots > 0 && !ring.synchronous) out.emplace_back(ring.slots, ring.bytes);
  std::ranges::sort(out);
  return out;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("Triton takes as much memory as counted from its scheduled texts", "[core]") {
  std::size_t counted = 0;
  for (const auto& [name, truth] : truth_of(folder("truth.json"))) {
    const TritonProgram program = program_of(folder(name));
    // A loop that is to be warp specialized is decided by a later text.
    if (std::ranges::any_of(program.loops, [](const LoopSite& loop) { return loop.wants_specialization; })) continue;
    check(folder(name), truth);
    ++counted;
  }
  CHECK(counted >= 19);
}

TEST_CASE("Triton takes as much memory as counted from texts of other sizes, forms and versions", "[core]") {
  for (const auto& [name, truth] : truth_of(folder("more/truth.json"))) check(folder("more/" + name), truth);
}

TEST_CASE("final, specialized and partitioned texts give the same figures as the scheduled ones", "[core]") {
  const std::map<std::string, Truth> truths = truth_of(folder("truth.json"));
  std::size_t counted = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder(""))) {
    const std::string name = entry.path().filename().string();
    for (const char* form : {".final.", ".specialized.", ".partitioned."}) {
      const std::size_t at = name.find(form);
      if (at == std::string::npos) continue;
      const auto truth = truths.find(with(name, form, ".scheduled."));
      if (truth == truths.end()) continue;
      check(entry.path().string(), truth->second);
      ++counted;
    }
  }
  CHECK(counted >= 8);
}

TEST_CASE("rings are as deep as Triton allocates them", "[core]") {
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder(""))) {
    const std::string path = entry.path().string();
    const std::string scheduled = with(path, ".final.", ".scheduled.");
    if (scheduled == path || !std::filesystem::exists(scheduled)) continue;
    INFO(scheduled);
    CHECK(depths(program_of(scheduled)) == depths(program_of(path)));
    ++compared;
  }
  CHECK(compared >= 5);
}

TEST_CASE("a ring says why it is as deep as it is, and a load why it has none", "[core]") {
  const TritonProgram gemm = program_of(folder("gemm_descriptors.sm90.scheduled.ttgir"));
  const std::vector<TritonBuffer> rings = rings_of(gemm, only_pipelined_loop(gemm));
  REQUIRE(rings.size() == 2);
  CHECK(rings[0].name == "ta");
  CHECK(rings[0].slots == 3);
  CHECK(rings[0].bytes == 16384);
  CHECK(rings[0].why == "3 slots: loaded in stage 0, read in stage 2, and one more for the mma that is still reading");

  const TritonProgram pointers = program_of(folder("gemm_pointers.sm90.scheduled.ttgir"));
  const std::vector<TritonBuffer> loads = rings_of(pointers, only_pipelined_loop(pointers));
  REQUIRE(loads.size() == 2);
  const auto late = std::ranges::find_if(loads, [](const TritonBuffer& load) { return load.synchronous; });
  REQUIRE(late != loads.end());
  CHECK(late->slots == 0);
  CHECK(late->why.find("not pipelined") != std::string::npos);

  const TritonProgram early = program_of(folder("gemm_descriptors.sm100.input.ttgir"));
  for (const TritonBuffer& ring : rings_of(early, early.loops.front())) {
    CHECK(ring.slots == 3);  // as in the scheduled text
    CHECK(ring.why == "3 slots, as Triton's rules give it");
  }
}

TEST_CASE("a load is an asynchronous copy only where addresses and mask let a thread know of 4 bytes in a row", "[core]") {
  const std::string path = folder("more/unknown_mask_given_back.sm90.scheduled.ttgir");
  const std::string text = *read_file(path);
  const auto ring_of = [&](const std::string& edited, const std::string& name) {
    const TritonProgram program = *make_program(*mlir::parse(edited, path));
    const std::vector<TritonBuffer> rings = rings_of(program, program.loops.front());
    const auto found = std::ranges::find_if(rings, [&](const TritonBuffer& ring) { return ring.name.starts_with(name); });
    REQUIRE(found != rings.end());
    return *found;
  };
  CHECK(ring_of(text, "x").slots == 0);
  CHECK(ring_of(text, "x").why.find("2 bytes at once") != std::string::npos);
  CHECK(ring_of(text, "y").slots == 2);
  // Triton pipelines both where the bound is known to be a multiple of 16.
  CHECK(ring_of(with(text, "%size: i32", "%size: i32 {tt.divisibility = 16 : i32}"), "x").slots == 2);
  CHECK(ring_of(with(text, "%size: i32", "%size: i32 {tt.divisibility = 2 : i32}"), "x").slots == 2);
  // In front of their readers they have a slot more there.
  const std::string in_front = with(with(text, "%size: i32", "%size: i32 {tt.divisibility = 16 : i32}"),
                                    "loop.cluster = 0 : i32, loop.stage = 1", "loop.cluster = 2 : i32, loop.stage = 1");
  CHECK(ring_of(in_front, "x").slots == 3);
  CHECK(ring_of(in_front, "y").slots == 3);
  // A pointer of which nothing is known.
  CHECK(ring_of(with(text, "%b: !tt.ptr<bf16> {tt.divisibility = 16 : i32}", "%b: !tt.ptr<bf16>"), "y").slots == 0);
}

TEST_CASE("every load that Triton itself put ahead is known to be wide enough for a copy", "[core]") {
  std::size_t ahead = 0;
  for (const char* in : {"", "more/"})
    for (const auto& entry : std::filesystem::directory_iterator(folder(in))) {
      const std::string path = entry.path().string();
      if (path.find(".scheduled.ttgir") == std::string::npos || path.find("given_back") != std::string::npos) continue;
      const TritonProgram program = program_of(path);
      for (const LoopSite& loop : program.loops)
        for (const TritonBuffer& ring : rings_of(program, loop)) {
          INFO(path << " " << ring.name);
          CHECK(ring.why.find("at once") == std::string::npos);
          ahead += ring.slots > 0 && program.module->op(ring.op).name == "tt.load";
        }
    }
  CHECK(ahead >= 8);
}

TEST_CASE("what a text does not decide is said", "[core]") {
  const TritonMemory input = memory_of(program_of(folder("attention_forward.sm90.input.ttgir")));
  CHECK(input.unsure.find("not scheduled it yet") != std::string::npos);
  CHECK(input.shared_bytes >= 32768);  // Q, whatever the schedule
  const TritonMemory blackwell = memory_of(program_of(folder("gemm_descriptors.sm100.input.ttgir")));
  CHECK(blackwell.tmem_needed == 256);
  const TritonMemory specialized_later = memory_of(program_of(folder("gemm_descriptors_ws.sm100.scheduled.ttgir")));
  CHECK(specialized_later.unsure.find("warp specialized") != std::string::npos);
  // What the product in front of a loop reads stays until behind it, as Triton 3.9.0 has it.
  const TritonMemory before = memory_of(program_of(folder("more/product_before_loop.sm90.scheduled.ttgir")));
  CHECK(before.shared_bytes == 246528);
  CHECK(before.unsure.find("stay until the loop ends") != std::string::npos);
}

TEST_CASE("how deep rings between partitions are is not guessed without a word", "[core]") {
  const std::string path = folder("attention_forward_ws.sm100.partitioned.ttgir");
  const std::string text = *read_file(path);
  REQUIRE(text.find("tt.num_stages = 3 : i32, ") != std::string::npos);
  const std::string silent = with(text, "tt.num_stages = 3 : i32, ", "");
  CHECK(memory_of(*make_program(*mlir::parse(silent, path))).unsure.find("num_stages") != std::string::npos);
  Metadata beside;
  beside.num_stages = 3;
  CHECK(memory_of(*make_program(*mlir::parse(silent, path), beside)).unsure == "");
}

TEST_CASE("partitions that are not Triton's own take what Triton gives them, or it is said that they may not", "[core]") {
  // A product whose operands its own partition loads is waited for at once, by a barrier of its own.
  const TritonMemory dequant = memory_of(program_of(folder("more/gemm_dequant_ws_given_back.sm100.partitioned.ttgir")));
  CHECK(dequant.shared_bytes == 49228);
  // Sums that a partition after the first leaves to what follows the loop pass through shared memory.
  const TritonMemory attention = memory_of(program_of(folder("more/attention_forward_ws_given_back.sm100.partitioned.ttgir")));
  CHECK(attention.shared_bytes == 83664);
  CHECK(attention.warps == 12);
}

TEST_CASE("accumulators of 64 rows are placed in the order of their first use", "[core]") {
  // Triton 3.9.0: the state in the upper half, the scores below it, the output beside the state, and its operand beside that, in the same
  // half.
  const TritonMemory memory = memory_of(program_of(folder("more/linear_attention.sm100.scheduled.ttgir")));
  CHECK(memory.tmem_needed == 160);
  CHECK(memory.tmem_columns == 256);
}

TEST_CASE("a kernel that needs more tensor memory than there is says how much", "[core]") {
  const TritonMemory memory = memory_of(program_of(folder("more/attention_backward_128x128x128.sm100.scheduled.ttgir")));
  CHECK(memory.tmem_needed == 640);
  CHECK(memory.tmem_needed > 512);
}

TEST_CASE("a stage more for a load is a slot more of its ring", "[core]") {
  const std::string path = folder("gemm_descriptors.sm90.scheduled.ttgir");
  const std::string text = *read_file(path);
  const auto bytes = [&](const std::string& edited) { return memory_of(*make_program(*mlir::parse(edited, path))).shared_bytes; };
  // Both loads in stage 0; their reader in 1, 2 or 3. (Triton 3.9.0 was asked: 98320, 147480, 196640.)
  CHECK(bytes(with(with(text, "loop.stage = 2", "loop.stage = 1"), "max_stage = 2", "max_stage = 1")) == 98320);
  CHECK(bytes(text) == 147480);
  CHECK(bytes(with(with(text, "loop.stage = 2", "loop.stage = 3"), "max_stage = 2", "max_stage = 3")) == 196640);
}

TEST_CASE("partitions get rings, barriers and warps of their own", "[core]") {
  const TritonProgram program = program_of(folder("attention_forward_ws.sm100.partitioned.ttgir"));
  const TritonMemory memory = memory_of(program);
  const auto count = [&](TritonBuffer::What what) {
    return std::ranges::count_if(memory.buffers, [&](const TritonBuffer& each) { return each.what == what; });
  };
  // K, V, and two row vectors that the softmax hands to the correction; two barriers for each of these and of three accumulators.
  CHECK(count(TritonBuffer::What::Ring) == 4);
  CHECK(count(TritonBuffer::What::Barriers) == 2 * (4 + 3) + 1);
  CHECK(memory.warps == 12);
  CHECK(memory.shared_bytes == 116368);
}

TEST_CASE("a conversion inside a warp takes no shared memory, one across warps does, by rounds", "[core]") {
  const mlir::Module none;
  const auto type = [&](const std::string& text) { return parse_type(text, none); };
  const Type mma =
      type("tensor<128x64xf16, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>>");
  const Type operand = type(
      "tensor<128x64xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], "
      "instrShape = [16, 64, 16]}>, kWidth = 2}>>");
  CHECK_FALSE(needs_shared_memory(mma, operand));
  CHECK(scratch_of_convert(mma, operand, 90).bytes == 0);
  const Type rows =
      type("tensor<128x64xf16, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>>");
  CHECK(needs_shared_memory(mma, rows));
  const std::int64_t bytes = scratch_of_convert(mma, rows, 90).bytes;
  CHECK(bytes > 0);
  CHECK(bytes <= 128 * 64 * 2);
}

TEST_CASE("pieces of memory that live at once never overlap, and all begin where they may", "[core][property]") {
  const std::uint64_t seed = 20261125;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  for (int round = 0; round < 300; ++round) {
    std::vector<MemoryPiece> pieces;
    const int count = 1 + static_cast<int>(below(14));
    for (int i = 0; i < count; ++i) {
      MemoryPiece piece;
      piece.bytes = 8 * (1 + static_cast<std::int64_t>(below(600)));
      piece.alignment = std::int64_t{1} << below(11);
      piece.life.begin = static_cast<std::int64_t>(below(60));
      piece.life.end = piece.life.begin + 1 + static_cast<std::int64_t>(below(40));
      if (below(4) == 0) {
        piece.specialize = 1;
        piece.region = static_cast<int>(below(3));
      }
      pieces.push_back(piece);
    }
    const std::optional<std::int64_t> size = allocate(pieces);
    REQUIRE(size);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      CHECK(pieces[i].offset % pieces[i].alignment == 0);
      CHECK(pieces[i].offset + pieces[i].bytes <= *size);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together = pieces[i].life.meets(pieces[j].life) ||
                              (pieces[i].specialize >= 0 && pieces[j].specialize >= 0 && pieces[i].region != pieces[j].region);
        const bool apart = pieces[i].offset + pieces[i].bytes <= pieces[j].offset || pieces[j].offset + pieces[j].bytes <= pieces[i].offset;
        CHECK((!together || apart));
      }
    }
  }
}
