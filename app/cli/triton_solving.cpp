#include "app/cli/triton_solving.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/command/progress_line.h"
#include "core/answers/difference.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/triton.h"
#endif

namespace heddle::app {

Result<triton::Comparison> solve_three(const TritonLoop& asked, const Arguments& arguments, const Terminal& terminal, double seconds,
                                       std::stop_token stop) {
#ifdef HEDDLE_HAS_SOLVER
  solver::TritonRequest request{asked.loop, asked.machine};
  request.timeout_seconds = seconds;
  if (const auto seed = arguments.integer("--seed")) request.seed = static_cast<std::uint64_t>(*seed);
  std::optional<Result<triton::Comparison>> found;
  {
    ProgressLine progress(terminal);
    progress.show({asked.loop.program().kernel, "reading"});
    found = solver::compare_triton(request, stop, [&](const triton::Comparison& so_far) {
      std::vector<std::string> facts;
      for (const triton::Side& side : so_far.sides)
        if (side.schedule) facts.push_back(fmt::format("{} {}", triton::title(side.whose), side.period));
      if (facts.empty()) facts.push_back("no schedule yet");
      progress.show(std::move(facts));
    });
  }
  std::vector<std::string> said;
  if (*found)
    for (const triton::Side& side : (*found)->sides)
      for (const std::string& note : side.native ? side.native->notes : std::vector<std::string>())
        if (std::find(said.begin(), said.end(), note) == said.end()) {
          said.push_back(note);
          terminal.note("note: " + note);
        }
  return *std::move(found);
#else
  (void)asked, (void)arguments, (void)terminal, (void)seconds, (void)stop;
  return Error::environment("this build has no solver", "configure with -DHEDDLE_SOLVER=ON");
#endif
}

}  // namespace heddle::app
