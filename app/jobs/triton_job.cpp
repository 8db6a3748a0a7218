#include "app/jobs/triton_job.h"

#ifdef HEDDLE_HAS_SOLVER
#include <utility>

#include "solver/questions/triton.h"
#endif

namespace heddle::app {

TritonTools built_in_triton_tools() {
#ifdef HEDDLE_HAS_SOLVER
  const auto compare = [](const TritonQuestion& of, std::stop_token stop, const ComparisonListener& listener) {
    const solver::TritonRequest request{of.loop, *of.machine};
    return solver::compare_triton(request, std::move(stop), listener);
  };
  return {compare};
#else
  return {};
#endif
}

}  // namespace heddle::app
