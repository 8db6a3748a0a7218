// Taking one of the alternatives of an op: what then counts as chosen.
#include <catch2/catch.hpp>

#include "core/answers/layout_choice.h"
#include "core/answers/layout_view.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

struct Backward {
  Kernel kernel = load_kernel("attention_backward_hopper").value();
  Machine machine = load_machine("h100").value();
  Problem problem = resolve(kernel, machine).value();
  LayoutChoices use(LayoutChoices choices, const char* layout, const InstructionChoice& instruction) const {
    return with_use(kernel, machine, problem, std::move(choices), {"dqs0", layout, "stage_dq0", instruction});
  }
};

}  // namespace

TEST_CASE("using an alternative chooses what is not so by default", "[core]") {
  const Backward b;
  const LayoutChoices other = b.use({}, "panels 32", {"st.shared.8", {}});
  CHECK(other.layouts.at("dqs0") == "panels 32");
  CHECK(other.instructions.at("stage_dq0") == InstructionChoice{"st.shared.8", {}});
  CHECK(choices_in_words(other) == "dqs0 panels 32 · stage_dq0 st.shared.8");
  // The layout is the default one, the instruction is not.
  const LayoutChoices plain = b.use(other, "panels 128", {"st.shared.8", {}});
  CHECK(plain.layouts.empty());
  CHECK(choices_in_words(plain) == "stage_dq0 st.shared.8");
  CHECK(choices_in_words(b.use({}, "panels 64", {"st.shared.8", {1, 2}})) == "dqs0 panels 64 · stage_dq0 st.shared.8 x1/2");
  // The default itself is no choice.
  CHECK(b.use(plain, "panels 128", {"st.shared.8", {2, 3}}).empty());
  CHECK(choices_in_words({}).empty());
}

TEST_CASE("using an alternative of one op leaves what is chosen for others", "[core]") {
  const Backward b;
  LayoutChoices choices;
  choices.layouts["dqs1"] = "panels 64";
  choices.instructions["stage_ds0"] = {"stmatrix.x4", {}};
  const LayoutChoices with = b.use(choices, "panels 32", {"st.shared.8", {}});
  CHECK(with.layouts.size() == 2);
  CHECK(with.instructions.size() == 2);
  CHECK(without(with, "dqs0", "stage_dq0") == choices);
}

TEST_CASE("every alternative that is not refused can be used, and gives what its row says", "[core]") {
  const Backward b;
  const LayoutView view = view_of(Instance(spec_of(b.kernel, b.machine), b.problem), "dqs0", "stage_dq0", true).value();
  std::size_t used = 0;
  for (std::size_t i = 0; i < view.alternatives.size(); ++i) {
    const LayoutAlternative& one = view.alternatives[i];
    INFO(one.layout << " by " << brief_text(one.instruction) << ": " << one.refused);
    const Result<Problem> problem = resolve(b.kernel, b.machine, {}, {}, b.use({}, one.layout.c_str(), one.instruction));
    REQUIRE(problem.ok() == one.refused.empty());
    if (!problem) continue;
    const OpPlan* plan = problem->layouts->find("stage_dq0");
    REQUIRE(plan);
    CHECK(plan->instruction == one.instruction);
    CHECK(plan->cost.port == one.cost.port);
    CHECK(plan->chosen != one.current);
    ++used;
  }
  CHECK(used > 4);
}
