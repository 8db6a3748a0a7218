// What the solver can be asked about an open problem, and what there is to choose in asking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/signature.h"
#include "core/answers/pareto.h"
#include "core/base/id.h"

namespace heddle::app {

enum class Topic { Explain, Slack, Price, Latency, Sensitivity, Alternatives, Pareto, Compare, Family, Paper, Layouts };
inline constexpr Topic kTopics[] = {Topic::Explain, Topic::Slack,   Topic::Price,  Topic::Latency, Topic::Sensitivity, Topic::Alternatives,
                                    Topic::Pareto,  Topic::Compare, Topic::Family, Topic::Paper,   Topic::Layouts};
/// Also the name of the command that asks the same: "explain", "slack" ...; that of "layouts" is `heddle solve --choose all`.
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
  std::vector<std::string> vary;                  ///< family: as `heddle family --vary` takes them
  std::int64_t u = 300;                           ///< paper: limit on the sum of normalized costs
  std::vector<std::string> ablations;             ///< paper: by name
  bool layouts_open = false;                      ///< price, sensitivity, pareto: layouts and instructions are left open, too
  std::optional<double> timeout_seconds;          ///< none: as the session is set
  bool operator==(const AskOptions&) const = default;
};

}  // namespace heddle::app
