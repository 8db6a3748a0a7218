// What the audit says of Triton's texts as they are, and of texts that were edited as Triton's later passes would accept them.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/triton/audit/audit.h"
#include "core/triton/read/files.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

std::string sample(const std::string& name) {
  const Result<std::string> text = read_file(test::repository_path("tests/triton/texts/" + name));
  REQUIRE(text.ok());
  return *text;
}

/// The text with one place replaced; the place must be there.
std::string edited(std::string text, const std::string& after, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(after);
  REQUIRE(begin != std::string::npos);
  const std::size_t at = text.find(from, begin);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Machine with_limits(std::int64_t smem = 232448, std::int64_t tmem = 512) {
  Machine machine;
  machine.limits.smem_bytes = smem;
  machine.limits.tmem_columns = tmem;
  return machine;
}

struct Audited {
  std::shared_ptr<const TritonProgram> program;
  TextAudit audit;
  const Finding* find(const std::string& topic) const {
    for (const Finding& finding : audit.findings)
      if (finding.topic == topic) return &finding;
    for (const TextLoopAudit& loop : audit.loops)
      for (const Finding& finding : loop.findings)
        if (finding.topic == topic) return &finding;
    return nullptr;
  }
  const Finding& at(const std::string& topic) const {
    const Finding* finding = find(topic);
    INFO(audit_text(audit, nullptr, {}));
    REQUIRE(finding);
    return *finding;
  }
};

Audited audited(const std::string& text, const Machine& machine = with_limits()) {
  Result<mlir::Module> module = mlir::parse(text, "text.ttgir");
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  auto kept = std::make_shared<const TritonProgram>(*std::move(program));
  TextAudit audit = triton::audit(*kept, machine);
  return {kept, std::move(audit)};
}

std::string everything(const Finding& finding) {
  std::string text = finding.sentence;
  for (const std::string& detail : finding.details) text += "\n" + detail;
  return text;
}

bool says(const Finding& finding, const std::string& words) { return everything(finding).find(words) != std::string::npos; }

const char* const kAttention = "attention_forward.sm90.scheduled.ttgir";

}  // namespace

TEST_CASE("every text that Triton scheduled itself is in order", "[core]") {
  for (const auto& entry : std::filesystem::directory_iterator(test::repository_path("tests/triton/texts"))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ttgir")) continue;
    const Audited a = audited(sample(name));
    CAPTURE(name, audit_text(a.audit, nullptr, {}));
    CHECK(a.audit.clean());
  }
}

TEST_CASE("an op that runs before what it reads gets a tile of another iteration, and the audit names both", "[core]") {
  const Audited a = audited(edited(sample(kAttention), "%p_17 = math.exp2", "loop.stage = 2", "loop.stage = 1"));
  const Finding& order = a.at("order");
  CHECK(order.weight == RowMark::Wrong);
  CHECK(says(order, "%p_17 (math.exp2, line "));
  CHECK(says(order, "gets %p_16 of 2 iterations before: stage 1, but what it reads is made in stage 2"));
  CHECK_FALSE(a.audit.clean());
  CHECK(audit_headline(a.audit).find("wrong: order") != std::string::npos);
}

TEST_CASE("in one stage the cluster decides, in one cluster the place in the text", "[core]") {
  const std::string text = sample(kAttention);
  const Finding late = audited(edited(text, "%p_16 = arith.subf", "loop.cluster = 0", "loop.cluster = 1")).at("order");
  CHECK(late.weight == RowMark::Wrong);
  CHECK(says(late, "cluster 0 runs before cluster 1 of what it reads"));
  const Finding early = audited(edited(text, "%p_13 = arith.mulf", "loop.stage = 2", "loop.stage = 1")).at("order");
  CHECK(says(early, "%p_13"));
}

TEST_CASE("a carried value may come from the iteration before, but no later", "[core]") {
  // The sum of an iteration is read by the next one. A stage later it is made in the step in which it is read, but after that.
  const std::string text = sample(kAttention);
  const Finding one = audited(edited(text, "%total_21 = arith.addf", "loop.stage = 2", "loop.stage = 3")).at("order");
  CHECK(one.weight == RowMark::Wrong);
  CHECK(says(one, "gets %total_21 of the iteration before: it stands before what it reads, in the same step and cluster"));
  const Finding two = audited(edited(text, "%total_21 = arith.addf", "loop.stage = 2", "loop.stage = 4")).at("order");
  CHECK(says(two, "gets %total_21 of 2 iterations before"));
  CHECK(says(two, "made in stage 4 of the iteration before"));
}

TEST_CASE("an op without a stage, and a largest stage that is too small or too large, are found", "[core]") {
  const std::string text = sample(kAttention);
  const Finding none = audited(edited(text, "%old_18 = math.exp2", "loop.cluster = 0 : i32, loop.stage = 2 : i32", "note")).at("no stage");
  CHECK(none.weight == RowMark::Wrong);
  CHECK(says(none, "%old_18"));
  const Finding small = audited(edited(text, "tt.num_stages", "tt.scheduled_max_stage = 2", "tt.scheduled_max_stage = 1")).at("stages");
  CHECK(small.weight == RowMark::Wrong);
  CHECK(says(small, "tt.scheduled_max_stage says 1, but ops are in stage 2"));
  const Finding large = audited(edited(text, "tt.num_stages", "tt.scheduled_max_stage = 2", "tt.scheduled_max_stage = 4")).at("stages");
  CHECK(large.weight == RowMark::Waste);
  CHECK(audited(text).at("stages").weight == RowMark::Fine);
}

TEST_CASE("a load that is not pipelined says why, and is a row of the table", "[core]") {
  const Audited a = audited(sample("gemm_pointers.sm90.scheduled.ttgir"));
  const Finding& loads = a.at("loads");
  CHECK(loads.weight == RowMark::Waste);
  CHECK(says(loads, "1 of 2 loads is not pipelined"));
  CHECK(says(loads, "kernels.py:20"));
  CHECK(says(loads, "a thread knows of 2 bytes in a row"));
  REQUIRE(a.audit.loops.size() == 1);
  const std::vector<LoadRow>& rows = a.audit.loops[0].loads;
  REQUIRE(rows.size() == 2);
  CHECK((rows[0].stage == 0 && rows[0].use_stage == 3 && rows[0].slots == 4 && rows[0].remark.empty()));
  CHECK((rows[1].stage == 3 && rows[1].use_stage == 3 && rows[1].slots == 0 && !rows[1].remark.empty()));
}

TEST_CASE("loads of one tile that run ahead by different stages stand beside each other", "[core]") {
  const Audited a = audited(edited(sample(kAttention), "%acc_26 = tt.descriptor_load", "loop.stage = 0", "loop.stage = 1"));
  const Finding& equal = a.at("equal loads");
  CHECK(equal.weight == RowMark::Waste);
  CHECK(says(equal, "acc_26 (kernels.py:130): loaded in stage 1, read in stage 2"));
  CHECK_FALSE(audited(sample(kAttention)).find("equal loads"));
}

TEST_CASE("mmas and arithmetic in one stage do not overlap, in different stages on Blackwell they do", "[core]") {
  CHECK(audited(sample(kAttention)).at("overlap").weight == RowMark::Waste);
  CHECK(audited(sample("attention_forward.sm100.scheduled.ttgir")).at("overlap").weight == RowMark::Fine);
  CHECK(audited(sample("gemm_descriptors.sm90.scheduled.ttgir")).at("overlap").weight == RowMark::Fine);
  // By hand: the second product one stage later, which Triton's passes on Hopper cannot carry out asynchronously.
  CHECK(says(audited(sample("attention_forward.sm90.compute_pipelined.scheduled.ttgir")).at("overlap"), "though the last stage is 2"));
}

TEST_CASE("memory beyond a limit is wrong before the launch, with what takes it", "[core]") {
  const Audited small = audited(sample(kAttention), with_limits(200000));
  const Finding& shared = small.at("shared memory");
  CHECK(shared.weight == RowMark::Wrong);
  CHECK(says(shared, "229432 of 200000 bytes"));
  CHECK(says(shared, "29432 bytes too many"));
  CHECK(says(shared, "98304 bytes: ring s_6"));
  const Finding tensor = audited(sample("attention_forward.sm100.scheduled.ttgir"), with_limits(232448, 256)).at("tensor memory");
  CHECK(tensor.weight == RowMark::Wrong);
  CHECK(says(tensor, "320 of 256 columns"));
  CHECK(audited(sample(kAttention)).at("shared memory").weight == RowMark::Fine);
}

TEST_CASE("registers that tiles hold are counted at the fullest place", "[core]") {
  CHECK(says(audited(sample(kAttention)).at("registers"), "136 of 255"));
  // Half the warps hold twice as much each.
  Machine few = with_limits();
  few.limits.registers_per_thread = 128;
  const Finding spills = audited(sample(kAttention), few).at("registers");
  CHECK(spills.weight == RowMark::Waste);
  CHECK(says(spills, "must spill"));
}

TEST_CASE("of a load that Triton leaves alone the audit says why, and what cures it", "[core]") {
  const Finding plain = audited(sample("more/sum_rows.sm90.scheduled.ttgir")).at("loads");
  CHECK(plain.weight == RowMark::Waste);
  CHECK(says(plain, "1 of 1 load is not pipelined"));
  CHECK(says(plain, "no mma reads it, and the loop asks for no stages of its own: tl.range(..., num_stages=3)"));
  const Finding bytes = audited(sample("more/gemm_f8_columns.sm90.scheduled.ttgir")).at("loads");
  CHECK(says(bytes, "2 of 2 loads are not pipelined"));
  CHECK(says(bytes, "a copy would move 1 byte at a time"));
  const Finding index = audited(sample("more/gemm_paged.sm90.scheduled.ttgir")).at("loads");
  CHECK(says(index, "1 of 3 loads is not pipelined"));
  CHECK(says(index, "other loads wait for it, and num_stages = 2 leaves no stage for it: with num_stages 3 it is pipelined"));
  const Finding branch = audited(sample("more/gemm_branch.sm90.scheduled.ttgir")).at("loads");
  CHECK(says(branch, "1 of 2 loads is not pipelined"));
  CHECK(says(branch, "it stands in a branch"));
  const Finding mask = audited(sample("more/unknown_mask.sm90.scheduled.ttgir")).at("loads");
  CHECK(says(mask, "a thread knows of 2 bytes in a row"));
}

TEST_CASE("a loop that asks for stages itself is one that Triton pipelines, in the text before that too", "[core]") {
  const std::string plain = sample("more/sum_rows.sm90.scheduled.ttgir");
  const std::string asked = edited(plain, "scf.for", "\n    }", "\n    } {tt.num_stages = 3 : i32}");
  const Audited a = audited(asked);
  CHECK_FALSE(says(a.at("form"), "finds nothing"));
  const bool fine = a.find("loads") == nullptr || a.at("loads").weight == RowMark::Fine;
  CHECK(fine);
  REQUIRE(a.audit.loops.size() == 1);
  REQUIRE(a.audit.loops[0].loads.size() == 1);
  CHECK(a.audit.loops[0].loads[0].slots == 2);
  const Audited one = audited(edited(plain, "scf.for", "\n    }", "\n    } {tt.num_stages = 1 : i32}"));
  CHECK(says(one.at("loads"), "the loop says num_stages=1"));
}

TEST_CASE("the audit says of warp specialization what the text shows", "[core]") {
  CHECK(says(audited(sample(kAttention)).at("warp groups"), "does not ask for warp specialization"));
  CHECK(says(audited(sample("attention_forward_ws.sm100.partitioned.ttgir")).at("warp groups"), "4 partitions"));
  CHECK(says(audited(sample("gemm_descriptors_ws.sm100.final.ttgir")).at("warp groups"), "warp specialized: default 4 warps"));
}

TEST_CASE("a kernel that has nothing to schedule opens with its sentence", "[core]") {
  const Audited none = audited(sample("swiglu_elementwise.sm90.scheduled.ttgir"));
  CHECK(audit_headline(none.audit) == "swiglu_elementwise, sm_90, 4 warps, input: the kernel has no loop: there is nothing to pipeline");
  CHECK(none.audit.clean());
  const Audited final = audited(sample("attention_forward.sm90.final.ttgir"));
  CHECK(audit_headline(final.audit).find("cannot be scheduled from this text") != std::string::npos);
}

TEST_CASE("no word of a text becomes a link, a tag or a mention in the Markdown of its audit", "[core]") {
  std::string text = sample("gemm_pointers.sm90.scheduled.ttgir");
  // Of a file only what follows its last "/" is shown.
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"kernels.py", "[x](javascript:alert(1)) <b> www.a.b @all"},
                                 {"@gemm_pointers", "@\"https://a.b\""}})
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
  const std::string page = audit_markdown(audited(text).audit, nullptr);
  REQUIRE(page.find("javascript") != std::string::npos);
  REQUIRE(page.find("//a.b") != std::string::npos);
  for (std::size_t at = 0; (at = page.find("](", at)) != std::string::npos; ++at) CHECK(page[at - 1] == '\\');
  for (const char* live : {"<b>", "://", "www.a", "@all"}) CHECK(page.find(live) == std::string::npos);
}

TEST_CASE("the audit as text, Markdown and JSON", "[core]") {
  const Audited a = audited(sample("gemm_pointers.sm90.scheduled.ttgir"));
  CHECK(test::golden_difference("triton_audit.txt", audit_text(a.audit, nullptr, {})).empty());
  CHECK(test::golden_difference("triton_audit.md", audit_markdown(a.audit, nullptr)).empty());
  CHECK(test::golden_difference("triton_audit.json", audit_json(a.audit, nullptr).pretty()).empty());
  const std::string ascii = audit_text(a.audit, nullptr, {.width = 80, .utf8 = false});
  CHECK(std::all_of(ascii.begin(), ascii.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
}
