// A tile that registers give to registers through shared memory, in the layout that is made for the two: as text, over the emulator.
#include <algorithm>

#include <catch2/catch.hpp>

#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;

TEST_CASE("the text of a tile in the layout that is made for its two ops computes what heddle eval computes, and meets nowhere",
          "[codegen][.slow]") {
  const Machine machine = load_machine(test::repository_path("assets/machines/h100.json")).value();
  test::Lowering from = test::lowered_fixture("gemm_turned", {{"F", 128}, {"T", 64}, {"K", 192}});
  // Half a row in each thread afterwards.
  LayoutChoices choices = from.schedule.layouts;
  choices.layouts["y"] = "{register=[[0,1],[0,2],[0,4],[0,8],[0,16]],lane=[[1,0],[2,0],[4,0],[8,0],[16,0]],warp=[[32,0],[0,32]]}";
  TileValue stage = *from.kernel.find_value("y");
  stage.name = "ys";
  stage.space = Space::Smem;
  from.kernel.values.push_back(stage);
  TileOp back = from.kernel.epilogue.front();
  back.name = "back", back.kind = "smem_load", back.inputs[0].value = "ys";
  from.kernel.epilogue.front().kind = "smem_store", from.kernel.epilogue.front().outputs = {"ys"};
  from.kernel.epilogue.insert(from.kernel.epilogue.begin() + 1, back);
  const Scope params = from.problem.params;
  const auto resolved = [&] {
    auto problem = resolve(from.kernel, machine, params, {}, choices);
    INFO((problem.ok() ? "" : to_string(problem.error())));
    REQUIRE(problem.ok());
    return *problem;
  };
  from.problem = resolved();
  // The one without a name.
  for (const char* op : {"regroup_rows", "back"}) {
    const auto all = alternatives_of(from.kernel, params, machine, *from.problem.layouts, op);
    const auto made = std::find_if(all.begin(), all.end(), [](const LayoutAlternative& each) {
      return each.refused.empty() && !each.layout.starts_with("panels") && !each.layout.starts_with("rows");
    });
    REQUIRE(made != all.end());
    CHECK(made->cost.port == made->cost.least);
    choices.layouts["ys"] = made->layout;
    choices.instructions[op] = made->instruction;
  }
  from.problem = resolved();
  from.schedule.layouts = choices;
  CHECK(test::run_text(from, 2) == 0);
}
