// Studies of a schedule's robustness as tables.
#pragma once

#include <string>
#include <vector>

#include "core/base/text_style.h"
#include "core/simulate/robustness_study.h"

namespace heddle {

std::string jitter_summary(const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options);
/// Numbers without any effect are counted, not listed.
std::string number_summary(const Schedule& schedule, const NumberStudy& study);
std::string depth_summary(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options);

std::string jitter_csv(const std::vector<JitterPoint>& points);
std::string number_csv(const NumberStudy& study);
std::string depth_csv(const DepthStudy& study);

}  // namespace heddle
