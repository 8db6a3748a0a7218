// What the solver can be asked about an open problem, and what there is to choose in asking.
#pragma once

#include <optional>
#include <vector>

#include "core/analysis/signature.h"
#include "core/answers/pareto.h"
#include "core/base/id.h"

namespace heddle::app {

enum class Topic { Explain, Slack, Price, Latency, Sensitivity, Alternatives, Pareto, Compare };
inline constexpr Topic kTopics[] = {Topic::Explain,     Topic::Slack,        Topic::Price,  Topic::Latency,
                                    Topic::Sensitivity, Topic::Alternatives, Topic::Pareto, Topic::Compare};
/// Also the name of the command that asks the same: "explain", "slack" ...
const char* to_string(Topic topic);

/// What there is to choose; every topic reads its own part. Defaults are those of the command line.
struct AskOptions {
  std::optional<Cycle> ii;                        ///< explain: exactly this one
  bool exact = true;                              ///< slack: not only longest paths
  OpId op;                                        ///< latency
  std::optional<Cycle> from, to;                  ///< latency
  int percent = 10;                               ///< sensitivity
  int count = 10;                                 ///< alternatives
  Aspect aspect = Aspect::Any;                    ///< alternatives
  bool ii_only = false;                           ///< alternatives
  std::vector<Resource> against{Resource::Smem};  ///< pareto
  double timeout_seconds = 60;
  bool operator==(const AskOptions&) const = default;
};

}  // namespace heddle::app
