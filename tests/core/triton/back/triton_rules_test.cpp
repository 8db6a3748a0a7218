// Triton's rules judge texts: none that Triton wrote breaks one that it keeps, and every rule catches the edit that breaks it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/atomic_file.h"
#include "core/triton/back/rules.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

std::string sample(const std::string& name) {
  const Result<std::string> text = read_file(test::repository_path("tests/triton/texts/" + name));
  REQUIRE(text.ok());
  return *text;
}

/// The text with `from` replaced at its first place behind `after`; both must be there.
std::string edited(std::string text, const std::string& after, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(after);
  REQUIRE(begin != std::string::npos);
  const std::size_t at = text.find(from, begin);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string everywhere(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

Machine with_limits() {
  Machine machine;
  machine.limits.smem_bytes = 232448;
  machine.limits.tmem_columns = 512;
  return machine;
}

std::vector<RuleViolation> judged(const std::string& text, const Machine& machine = with_limits()) {
  Result<mlir::Module> module = mlir::parse(text, "text.ttgir");
  REQUIRE(module.ok());
  const Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  std::vector<RuleViolation> all;
  for (const LoopSite& loop : program->loops)
    for (RuleViolation& each : broken_rules(*program, loop, machine)) all.push_back(std::move(each));
  return all;
}

/// The edit breaks this rule and no other, and the sentence says where.
void breaks(const std::string& text, Rule rule, const std::string& word) {
  const std::vector<RuleViolation> found = judged(text);
  REQUIRE_FALSE(found.empty());
  for (const RuleViolation& each : found) {
    INFO(to_string(each.rule) << ": " << each.message);
    CHECK(each.rule == rule);
  }
  INFO(found.front().message);
  CHECK(found.front().message.find(word) != std::string::npos);
}

}  // namespace

TEST_CASE("no text that Triton wrote breaks a rule, but for memory that is not there", "[triton]") {
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("tests/triton/texts"))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ttgir") || name.find("compute_pipelined") != std::string::npos) continue;
    const Result<std::string> text = read_file(entry.path().string());
    REQUIRE(text.ok());
    Result<mlir::Module> module = mlir::parse(*text, name);
    REQUIRE(module.ok());
    const Result<TritonProgram> program = make_program(*std::move(module));
    REQUIRE(program.ok());
    if (program->form == TextForm::Final) continue;
    ++texts;
    for (const LoopSite& loop : program->loops)
      for (const RuleViolation& each : broken_rules(*program, loop, with_limits())) {
        INFO(name << ": " << to_string(each.rule) << ": " << each.message);
        // Triton 3.9.0 takes this product apart, lets its second half fly and copies into the only slot that it reads: its own final text
        // says so (warp_group_dot_wait with one pending, then async_copy_global_to_local).
        if (name.starts_with("prefix_scaled.sm90") && each.rule == Rule::Ring) continue;
        CHECK(each.rule == Rule::Memory);
        CHECK((name.starts_with("attention_backward") || name.starts_with("product_before_loop")));
      }
  }
  CHECK(texts > 30);
}

TEST_CASE("the rule of stages: an op without one, and numbers that no pipeline has", "[triton]") {
  const std::string text = sample("attention_forward.sm90.scheduled.ttgir");
  breaks(edited(text, "%p_17 = math.exp2", "loop.cluster = 0 : i32, loop.stage = 2 : i32", "other = 1 : i32"), Rule::Stage, "%p_17");
  breaks(edited(text, "%p_17 = math.exp2", "loop.cluster = 0 : i32, ", ""), Rule::Stage, "loop.cluster");
  const std::vector<RuleViolation> found = judged(edited(text, "%p_17 = math.exp2", "loop.stage = 2", "loop.stage = 1000000"));
  CHECK(std::any_of(found.begin(), found.end(), [](const RuleViolation& v) { return v.rule == Rule::Stage; }));
}

TEST_CASE("the rule of the last stage: the loop says how many there are", "[triton]") {
  const std::string text = sample("gemm_descriptors.sm90.scheduled.ttgir");
  breaks(edited(text, "tt.scheduled_max_stage", "= 2 : i32", "= 1 : i32"), Rule::LastStage, "is in stage 2");
  breaks(edited(text, "tt.scheduled_max_stage", "tt.scheduled_max_stage = 2 : i32", "other = 1 : i32"), Rule::LastStage, "takes no notice");
}

TEST_CASE("the rule of order: nothing runs before what it reads", "[triton]") {
  const std::string text = sample("attention_forward.sm90.scheduled.ttgir");
  breaks(edited(text, "%p_17 = math.exp2", "loop.stage = 2", "loop.stage = 1"), Rule::Order, "%p_17");
  breaks(edited(text, "%p_16 = arith.subf", "loop.cluster = 0", "loop.cluster = 1"), Rule::Order, "cluster 0 runs before cluster 1");
  // A sum that is carried comes a stage late.
  CHECK_FALSE(judged(edited(edited(text, "%total_21 = arith.addf", "loop.stage = 2", "loop.stage = 3"), "tt.scheduled_max_stage",
                            "= 2 : i32", "= 3 : i32"))
                  .empty());
}

TEST_CASE("the rule of rings: no copy fills a slot before what was there is read", "[triton]") {
  // In one cluster the copy comes first; in an earlier one there is a slot more.
  const Result<std::string> rows = read_file(test::repository_path("tests/triton/broken/rms_rows.sm90.scheduled.ttgir"));
  REQUIRE(rows.ok());
  breaks(*rows, Rule::Ring, "its ring has 3 slots, and the copy for 3 iterations later is issued in the same step and cluster (0)");
  CHECK(judged(everywhere(*rows, "{loop.cluster = 0 : i32, loop.stage = 3 : i32}", "{loop.cluster = 1 : i32, loop.stage = 3 : i32}"))
            .empty());
  const std::string softmax = sample("softmax_rows.sm90.scheduled.ttgir");
  breaks(everywhere(softmax, "loop.cluster = 3", "loop.cluster = 0"), Rule::Ring, "%t_5");
  SECTION("a wgmma reads until the next one is issued: it has a slot for that, and another one behind an earlier cluster") {
    const std::string text = sample("gemm_descriptors.sm90.scheduled.ttgir");
    breaks(everywhere(text, "loop.cluster = 2", "loop.cluster = 0"), Rule::Ring, "while the mma is still reading");
    CHECK(judged(everywhere(text, "loop.cluster = 0", "loop.cluster = 3")).empty());
    // Only one of its operands.
    const std::vector<RuleViolation> found = judged(edited(text, "%tb = tt.descriptor_load", "loop.cluster = 2", "loop.cluster = 0"));
    REQUIRE(found.size() == 1);
    CHECK((found[0].rule == Rule::Ring && found[0].ops.size() == 2 && found[0].line > 0));
  }
  SECTION("a product of tensor memory reads until it is waited for, where it stands, a step later") {
    const std::string text = sample("gemm_descriptors.sm100.scheduled.ttgir");
    breaks(everywhere(text, "loop.cluster = 2", "loop.cluster = 0"), Rule::Ring, "while the mma is still reading");
    breaks(everywhere(text, "loop.cluster = 0", "loop.cluster = 3"), Rule::Ring, "while the mma is still reading");
  }
  SECTION("a partition's own ring has the slots of its stages; between partitions barriers say when a slot is free") {
    std::string text = sample("more/mlp_chain_ws.sm100.partitioned.ttgir");
    text = edited(text, "%s_11 = tt.descriptor_load", "loop.cluster = 4", "loop.cluster = 2");
    CHECK(judged(text).empty());
    for (const char* op : {"%s_11 = tt.descriptor_load", "%s_12 = ttg.local_alloc"})
      text = edited(text, op, "array<i32: 2>", "array<i32: 1>");
    breaks(text, Rule::Ring, "its ring has 2 slots");
  }
}

TEST_CASE("the rule of mmas: on Hopper none stands before the last stage", "[triton]") {
  breaks(sample("attention_forward.sm90.compute_pipelined.scheduled.ttgir"), Rule::Product, "predicate");
}

TEST_CASE("the rule of memory: rings that follow from the stages must be there", "[triton]") {
  // Loads of 96 KB an iteration, four stages ahead instead of two.
  std::string text = sample("gemm_descriptors.sm90.scheduled.ttgir");
  for (std::size_t at = 0; (at = text.find("loop.stage = 2", at)) != std::string::npos; ++at) text.replace(at, 14, "loop.stage = 5");
  breaks(edited(text, "tt.scheduled_max_stage", "= 2 : i32", "= 5 : i32"), Rule::Memory, "bytes of shared memory, there are 232448");
}

TEST_CASE("the rule of order holds for memory too: loads, stores and what waits for a load", "[triton]") {
  // y is read and written: v and u are loaded, z is a function of u, y becomes v. Numbers of 16 bits have no rings.
  const std::string text = R"(module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90"} {
  tt.func public @keep(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %z: !tt.ptr<f16>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %px = tt.addptr %x, %i {loop.cluster = 0 : i32, loop.stage = 0 : i32} : !tt.ptr<f16>, i32
      %py = tt.addptr %y, %i {loop.cluster = 0 : i32, loop.stage = 0 : i32} : !tt.ptr<f16>, i32
      %pz = tt.addptr %z, %i {loop.cluster = 0 : i32, loop.stage = 0 : i32} : !tt.ptr<f16>, i32
      %v = tt.load %px {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<f16>
      %u = tt.load %py {loop.cluster = 1 : i32, loop.stage = 0 : i32} : !tt.ptr<f16>
      %w = arith.mulf %u, %u {loop.cluster = 0 : i32, loop.stage = 2 : i32} : f16
      tt.store %pz, %w {loop.cluster = 0 : i32, loop.stage = 2 : i32} : !tt.ptr<f16>
      tt.store %py, %v {loop.cluster = 1 : i32, loop.stage = 2 : i32} : !tt.ptr<f16>
    } {tt.scheduled_max_stage = 2 : i32}
    tt.return
  }
}
)";
  CHECK(judged(text).empty());
  const auto with_store_at = [&](const std::string& cluster, const std::string& stage) {
    return edited(text, "tt.store %py", "loop.cluster = 1 : i32, loop.stage = 2",
                  "loop.cluster = " + cluster + " : i32, loop.stage = " + stage);
  };
  // Behind the loads, but before the op that waits for one.
  breaks(with_store_at("1", "0"), Rule::Order, "the same memory");
  breaks(with_store_at("1", "1"), Rule::Order, "the same memory");
  SECTION("an address that stays is the next iteration's too") {
    std::string same = text;
    for (std::size_t at = 0; (at = same.find("%py {", at)) != std::string::npos;) same.replace(at, 3, "%y");
    same = edited(same, "tt.store %py", "%py", "%y");
    // y of the next iteration is loaded two steps before it is stored.
    breaks(same, Rule::Order, "of the iteration before");
  }
}

TEST_CASE("numbers that MLIR reads and Heddle does not are refused, not taken as 0", "[triton]") {
  const std::string text = sample("gemm_descriptors.sm90.scheduled.ttgir");
  for (const char* number : {"0x2 : i32", "2 : i64", "#two", "\"2\"", "-", "2.0 : f32"})
    breaks(edited(text, "ttng.warp_group_dot", "loop.stage = 2 : i32", std::string("loop.stage = ") + number), Rule::Stage,
           "expected a number");
}

TEST_CASE("on Hopper a partition is no reason to leave the order", "[triton]") {
  std::string text = sample("attention_forward.sm90.scheduled.ttgir");
  text = edited(text, "%p_16 = arith.subf", "loop.stage = 2 : i32", "loop.stage = 2 : i32, ttg.partition = array<i32: 0>");
  text = edited(text, "%p_17 = math.exp2", "loop.stage = 2 : i32", "loop.stage = 1 : i32, ttg.partition = array<i32: 1>");
  breaks(text, Rule::Order, "%p_17");
}
