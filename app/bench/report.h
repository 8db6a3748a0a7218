// Words and tables of what heddle bench has found.
#pragma once

#include <string>
#include <vector>

#include "app/bench/record.h"
#include "core/base/text_style.h"

namespace heddle::app {

/// "wrong        gemm-small: what was seen", and a line on what to look at; no newline at the end.
std::string step_text(const StepRecord& record);

/// Every kernel that was timed beside cuBLAS or cuDNN of the same run, its cycles beside its schedule's; what is not as it should be and
/// where to look next; counts.
std::string bench_report(const BenchRecord& record, const std::vector<BenchStep>& steps, const std::string& folder, const TextStyle& style);

}  // namespace heddle::app
