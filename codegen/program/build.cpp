#include "codegen/program/build.h"

#include "codegen/program/search.h"

namespace heddle::codegen {

BuildResult build_program(const Kernel& kernel, const Problem& problem, const Schedule& schedule, std::optional<std::int64_t> trips,
                          const BuildOptions& options) {
  return ProgramSearch(kernel, problem, trips, options).best(schedule);
}

}  // namespace heddle::codegen
