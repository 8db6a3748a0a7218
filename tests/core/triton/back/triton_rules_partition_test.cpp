// Partitions: what Triton's lowering does not take, one edit of a text for each; and lists that are planned from warp groups. What real
// Triton does with each edit is in docs/triton_partitions.md.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/atomic_file.h"
#include "core/triton/back/partition_plan.h"
#include "core/triton/back/rules.h"
#include "core/triton/back/write_decisions.h"
#include "core/triton/kernel/partition_flow.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/ops.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

const char* const kAttention = "attention_forward_ws.sm100.partitioned.ttgir";

std::string sample(const std::string& name) {
  const Result<std::string> text = read_file(test::repository_path("tests/triton/texts/" + name));
  REQUIRE(text.ok());
  return *text;
}

TritonProgram program_of(const std::string& text) {
  Result<mlir::Module> module = mlir::parse(text, "text.ttgir");
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  return *std::move(program);
}

const LoopSite& loop_of(const TritonProgram& program) {
  const LoopSite* loop = usual_loop(program);
  REQUIRE(loop);
  return *loop;
}

std::vector<RuleViolation> judged(const TritonProgram& program) {
  std::vector<RuleViolation> found;
  judge_partitions(program, loop_of(program), found);
  return found;
}

/// `to` instead of `from`, the first one behind `after`.
std::string edited(std::string text, const std::string& after, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(after);
  INFO(after);
  REQUIRE(begin != std::string::npos);
  const std::size_t at = text.find(from, begin);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The op in other partitions; a reduction's own list stands behind its region.
std::string moved(std::string text, const std::string& op, const std::string& list) {
  std::size_t at = text.find(op);
  INFO(op);
  REQUIRE(at != std::string::npos);
  if (op.find("tt.reduce\"") != std::string::npos) at = text.find("}) {", at);
  const std::string head = "ttg.partition = array<i32: ";
  at = text.find(head, at) + head.size();
  return text.replace(at, text.find('>', at) - at, list);
}

/// The attention text, with a fifth partition to put things in.
std::string with_a_fifth() { return edited(sample(kAttention), "ttg.partition.stages", "0 : i32]", "0 : i32, 0 : i32]"); }

void breaks(const std::string& text, Rule rule, const std::vector<std::string>& words) {
  const std::vector<RuleViolation> found = judged(program_of(text));
  REQUIRE_FALSE(found.empty());
  for (const RuleViolation& each : found) {
    INFO(each.message);
    CHECK(each.rule == rule);
    CHECK_FALSE(each.ops.empty());
    CHECK(each.line > 0);
  }
  INFO(found.front().message);
  for (const std::string& word : words) CHECK(found.front().message.find(word) != std::string::npos);
}

void keeps(const std::string& text) {
  for (const RuleViolation& each : judged(program_of(text))) FAIL_CHECK(each.message);
}

using GroupsByOp = std::vector<std::pair<mlir::OpId, int>>;

/// Loads in one group, products in another, the rest in a third; ops that are named by their first result where they say.
GroupsByOp by_kind(const TritonProgram& program, const std::map<std::string, int>& named = {}) {
  const PartitionFlow flow(program, loop_of(program));
  GroupsByOp groups;
  for (std::size_t i = 0; i < flow.ops.size(); ++i) {
    if (!flow.tile[i]) continue;
    const mlir::Op& op = program.module->op(flow.ops[i]);
    const auto found = op.results.empty() ? named.end() : named.find(program.module->value(op.results.front()).name);
    groups.emplace_back(flow.ops[i], found != named.end()          ? found->second
                                     : is_tensor_product(op.name)  ? 30
                                     : is_descriptor_load(op.name) ? 20
                                                                   : 10);
  }
  // Only ops that do work are a schedule's.
  std::erase_if(groups, [&](const auto& each) {
    const std::string& name = program.module->op(each.first).name;
    return is_partition_view(name) || name == "ttg.local_alloc";
  });
  return groups;
}

std::string told(const TritonProgram& program, const PartitionPlan& plan) {
  Decisions decisions = decisions_of(program, loop_of(program));
  const mlir::Block* body = program.module->body(loop_of(program).op);
  for (const auto& [id, list] : plan.ops)
    if (const auto at = std::find(body->ops.begin(), body->ops.end(), id); at != body->ops.end())
      decisions.ops[static_cast<std::size_t>(at - body->ops.begin())].partitions = list;
    else
      decisions.inside.emplace_back(id, list);
  decisions.of_the_loop = plan.of_the_loop;
  return write_decisions(program, loop_of(program), decisions);
}

PartitionPlan planned(const TritonProgram& program, const GroupsByOp& groups) {
  Result<PartitionPlan> plan = plan_partitions(program, loop_of(program), groups);
  if (!plan.ok()) FAIL(to_string(plan.error()));
  return *std::move(plan);
}

std::vector<std::int64_t> list_of(const TritonProgram& program, const PartitionPlan& plan, const std::string& result) {
  for (const auto& [id, list] : plan.ops)
    if (const mlir::Op& op = program.module->op(id); !op.results.empty() && program.module->value(op.results.front()).name == result)
      return list;
  FAIL("no op makes %" << result);
  return {};
}

}  // namespace

TEST_CASE("no partitions that Triton chose break a rule", "[triton]") {
  std::size_t partitioned = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("tests/triton/texts"))) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".ttgir")) continue;
    const Result<std::string> text = read_file(path);
    REQUIRE(text.ok());
    const TritonProgram program = program_of(*text);
    partitioned += program.form == TextForm::Partitioned;
    for (const LoopSite& loop : program.loops) {
      std::vector<RuleViolation> found;
      judge_partitions(program, loop, found);
      for (const RuleViolation& each : found) FAIL_CHECK(path << ": " << each.message);
    }
  }
  CHECK(partitioned >= 5);
}

TEST_CASE("partitions that Triton takes no notice of", "[triton]") {
  breaks(edited(sample(kAttention), "tt.scheduled_max_stage", "tt.warp_specialize, ", ""), Rule::Partition, {"no tt.warp_specialize"});
  breaks(edited(sample(kAttention), "module attributes", "\"ttg.num-warps\" = 4", "\"ttg.num-warps\" = 2"), Rule::Partition,
         {"2 warps", "multiples of 4"});
  const std::string pointers =
      edited(edited(sample("gemm_pointers.sm100.scheduled.ttgir"), "ttng.tc_gen5_mma", "{loop.", "{ttg.partition = array<i32: 1>, loop."),
             "scf.yield", "{tt.num_stages", "{tt.warp_specialize, tt.num_stages");
  breaks(pointers, Rule::Partition, {"no load by descriptor"});
}

TEST_CASE("numbers of partitions", "[triton]") {
  breaks(moved(sample(kAttention), "%s_15 = tt.descriptor_load", "-1"), Rule::Partition, {"%s_15", "partition -1"});
  breaks(moved(sample(kAttention), "%s_15 = tt.descriptor_load", "4"), Rule::Partition, {"%s_15", "partition 4", "4 partitions"});
  breaks(edited(sample(kAttention), "%acc_39 = arith.mulf", ", ttg.partition = array<i32: 1>", ""), Rule::Partition,
         {"%acc_39", "no ttg.partition"});
  // An index is copied to where it is read, whatever its list says.
  keeps(edited(sample(kAttention), "%s_14 = arith.addi", ", ttg.partition = array<i32: 3>", ""));
  keeps(moved(sample(kAttention), "%s_14 = arith.addi", "0"));
}

TEST_CASE("what cannot be done twice is in one partition", "[triton]") {
  breaks(moved(with_a_fifth(), "%acc_45 = ttng.tc_gen5_mma", "2, 4"), Rule::Partition, {"%acc_45", "partitions 2, 4"});
  breaks(moved(sample(kAttention), "%acc_42 = tt.descriptor_load", "2, 3"), Rule::Partition, {"%acc_42"});
  breaks(moved(sample(kAttention), "%higher_23 = arith.maxnumf", "0, 1"), Rule::Partition, {"%higher_23", "carried"});
}

TEST_CASE("memory is read where its view is, and by one partition", "[triton]") {
  breaks(moved(sample(kAttention), "%s_17 = ttg.memdesc_trans", "3"), Rule::Partition, {"%s_17", "partition 3", "%s_18", "partition 2"});
  const TritonProgram dual = program_of(sample("swiglu_dual.sm100.scheduled.ttgir"));
  const PartitionFlow flow(dual, loop_of(dual));
  GroupsByOp groups = by_kind(dual);
  for (auto& [id, group] : groups)
    if (is_tensor_product(dual.module->op(id).name)) {
      group = 40;
      break;
    }
  breaks(told(dual, planned(dual, groups)), Rule::Partition, {"one partition only"});
  keeps(told(dual, planned(dual, by_kind(dual))));
}

TEST_CASE("tensor memory is shared by its mmas and one other partition", "[triton]") {
  breaks(moved(sample(kAttention), "%acc_44 = ttng.tmem_store", "0"), Rule::Tensor, {"%acc_44", "%acc_37", "both use %acc_4"});
  breaks(moved(sample(kAttention), "%s_19, %s_20 = ttng.tmem_load", "2"), Rule::Tensor, {"%s_19", "%s_18", "another partition reads it"});
  breaks(moved(sample(kAttention), "%acc_41 = ttng.tmem_alloc", "1"), Rule::Tensor, {"%acc_41", "%acc_40", "expected the same"});
}

TEST_CASE("a copy behind work on tensor memory takes the warps that it needs", "[triton]") {
  std::string text = sample(kAttention);
  for (const char* op :
       {"%s_15 = tt.descriptor_load", "%s_16 = ttg.local_alloc", "%acc_42 = tt.descriptor_load", "%acc_43 = ttg.local_alloc"})
    text = moved(text, op, "1");
  breaks(text, Rule::Partition, {"%acc_44", "partition 1", "%s_15", "leaves them 2 warps"});
  // Where a use of tensor memory comes last, its warps are kept.
  for (const char* op : {"%s_15 = tt.descriptor_load", "%acc_42 = tt.descriptor_load"})
    text = edited(text, op, "loop.cluster = ", "loop.cluster = 0 : i32, was = ");
  for (const RuleViolation& each : judged(program_of(text))) CHECK(each.message.find("warps") == std::string::npos);
}

TEST_CASE("a reduction and what is inside of it", "[triton]") {
  const std::string outside = moved(with_a_fifth(), "%total_33 = \"tt.reduce\"", "4");
  breaks(outside, Rule::Partition, {"%total_33", "inside of it"});
  const std::string both = moved(moved(outside, "%total_48 = arith.addf", "4"), "tt.reduce.return %total_48", "4");
  breaks(both, Rule::Partition, {"%total_33", "fails on a reduction"});
}

TEST_CASE("ops that Triton would compute where they are needed are not handed over", "[triton]") {
  breaks(moved(with_a_fifth(), "%p_28 = math.exp2", "4"), Rule::Partition, {"%p_28", "partition 4", "%p_27", "computes such ops again"});
  breaks(moved(with_a_fifth(), "%s_14 = arith.addi", "4"), Rule::Partition, {"partition 4 has no op on tiles", "%s_14"});
  // A load in a partition of its own is what it says.
  keeps(moved(moved(with_a_fifth(), "%acc_42 = tt.descriptor_load", "4"), "%acc_43 = ttg.local_alloc", "4"));
  keeps(moved(with_a_fifth(), "%acc_45 = ttng.tc_gen5_mma", "4"));
}

TEST_CASE("partitions that wait for each other in a circle", "[triton]") {
  // The first product so many stages in front of the second one; there are two slots for what it makes, and one for what is made of it.
  const auto ahead = [](const std::string& stage) {
    std::string text = sample(kAttention);
    for (const char* op : {"%s_16 = ttg.local_alloc", "%s_17 = ttg.memdesc_trans", "%s_18 = ttng.tc_gen5_mma"})
      text = edited(text, op, "loop.stage = 2", "loop.stage = " + stage);
    return text;
  };
  keeps(ahead("3"));
  keeps(ahead("1"));
  breaks(ahead("0"), Rule::Partition, {"in a circle", "%s_18 (partition 2)", "%acc_45 (partition 2)", "%s_19 (partition 0)"});
  // A view of memory waits for nothing.
  keeps(edited(sample(kAttention), "%s_17 = ttg.memdesc_trans", "loop.stage = 2", "loop.stage = 0"));
  // In one stage a partition runs in the order of the text, whatever the clusters.
  keeps(edited(ahead("4"), "%s_18 = ttng.tc_gen5_mma", "loop.cluster = 2", "loop.cluster = 5"));
  // Keys that are loaded further in front of values than their ring has slots.
  const auto values = [](const std::string& stage) {
    return edited(edited(sample(kAttention), "%acc_42 = tt.descriptor_load", "loop.stage = 2", "loop.stage = " + stage),
                  "tt.scheduled_max_stage", "= 4 : i32", "= 9 : i32");
  };
  keeps(values("4"));
  breaks(values("9"), Rule::Partition, {"in a circle", "%s_15 (partition 3)"});
}

TEST_CASE("groups that are the text's own partitions give its own lists", "[triton]") {
  for (const char* name : {kAttention, "more/attention_forward_ws.sm100.triton-3.6.0.partitioned.ttgir",
                           "more/gemm_dequant_ws.sm100.partitioned.ttgir", "more/softmax_store_ws.sm100.partitioned.ttgir"}) {
    INFO(name);
    const TritonProgram program = program_of(sample(name));
    GroupsByOp groups;
    const PartitionFlow flow(program, loop_of(program));
    for (std::size_t i = 0; i < flow.ops.size(); ++i)
      if (flow.tile[i]) groups.emplace_back(flow.ops[i], static_cast<int>(100 - 7 * flow.partitions[i].front()));
    const PartitionPlan plan = planned(program, groups);
    for (const auto& [id, list] : plan.ops) CHECK(list == partitions_of_op(program.module->op(id)));
    CHECK(told(program, plan) == program.module->text);
  }
}

TEST_CASE("warp groups become the lists that Triton would have written", "[triton]") {
  const TritonProgram gemm = program_of(sample("gemm_descriptors_ws.sm100.scheduled.ttgir"));
  const PartitionPlan plan = planned(gemm, by_kind(gemm));
  const std::map<std::string, std::vector<std::int64_t>> lists{{"ta", {2}},     {"ta_9", {2}},   {"tb", {2}},
                                                               {"acc_10", {2}}, {"acc_11", {1}}, {"acc_12", {1}}};
  for (const auto& [result, list] : lists) {
    INFO(result);
    CHECK(list_of(gemm, plan, result) == list);
  }
  const std::vector<std::pair<std::string, std::string>> of_the_loop{{"tt.warp_specialize", ""},
                                                                     {"ttg.partition", "array<i32: 1, 2>"},
                                                                     {"ttg.partition.outputs", "[array<i32: 1>, array<i32: 1>]"},
                                                                     {"ttg.partition.stages", "[0 : i32, 1 : i32, 0 : i32]"},
                                                                     {"ttg.warp_specialize.tag", "0 : i32"}};
  CHECK(plan.of_the_loop == of_the_loop);
  keeps(told(gemm, plan));
}

TEST_CASE("partitions are for loops that did not ask for them, too, and helpers follow their readers", "[triton]") {
  const TritonProgram attention = program_of(sample("attention_forward.sm100.scheduled.ttgir"));
  GroupsByOp groups = by_kind(attention);
  // Every load in a group of its own.
  int own = 50;
  for (auto& [id, group] : groups)
    if (is_descriptor_load(attention.module->op(id).name)) group = own++;
  const PartitionPlan plan = planned(attention, groups);
  keeps(told(attention, plan));
  std::map<std::string, std::set<std::vector<std::int64_t>>> by_name;
  for (const auto& [id, list] : plan.ops) by_name[attention.module->op(id).name].insert(list);
  CHECK(by_name["tt.descriptor_load"] == std::set<std::vector<std::int64_t>>{{2}, {3}});
  CHECK(by_name["arith.addi"] == std::set<std::vector<std::int64_t>>{{2, 3}});
  CHECK(by_name["ttng.tc_gen5_mma"] == std::set<std::vector<std::int64_t>>{{1}});
  CHECK(by_name["ttg.memdesc_trans"] == std::set<std::vector<std::int64_t>>{{1}});
  CHECK(by_name["math.exp2"] == std::set<std::vector<std::int64_t>>{{0}});
  CHECK(by_name["tt.reduce.return"] == std::set<std::vector<std::int64_t>>{{0}});
  CHECK(by_name["scf.yield"] == std::set<std::vector<std::int64_t>>{{0, 1, 2, 3}});
  const TritonProgram back = program_of(told(attention, plan));
  CHECK(loop_of(back).wants_specialization);
  CHECK(loop_of(back).partitioned);
}

TEST_CASE("where Triton cannot be told of partitions it is said", "[triton]") {
  const auto refused = [](const TritonProgram& program, const GroupsByOp& groups, const std::string& words) {
    const Result<PartitionPlan> plan = plan_partitions(program, loop_of(program), groups);
    REQUIRE_FALSE(plan.ok());
    INFO(to_string(plan.error()));
    CHECK(to_string(plan.error()).find(words) != std::string::npos);
  };
  const TritonProgram hopper = program_of(sample("attention_forward.sm90.scheduled.ttgir"));
  refused(hopper, by_kind(hopper), "sm_90");
  const TritonProgram persistent = program_of(sample("gemm_persistent.sm100.scheduled.ttgir"));
  refused(persistent, by_kind(persistent), "inside of another op");
  const TritonProgram attention = program_of(sample("attention_forward.sm100.scheduled.ttgir"));
  refused(attention, {}, "no op on tiles");
}
