// What the solver can be asked about an open problem, and what there is to choose in asking.
#pragma once

#include <optional>

#include "app/ask/alternatives.h"
#include "app/ask/explain.h"
#include "app/ask/family.h"
#include "app/ask/latency.h"
#include "app/ask/paper.h"
#include "app/ask/pareto.h"
#include "app/ask/sensitivity.h"
#include "app/ask/slack.h"

namespace heddle::app {

enum class Topic { Explain, Slack, Price, Latency, Sensitivity, Alternatives, Pareto, Compare, Family, Paper, Layouts };
inline constexpr Topic kTopics[] = {Topic::Explain, Topic::Slack,   Topic::Price,  Topic::Latency, Topic::Sensitivity, Topic::Alternatives,
                                    Topic::Pareto,  Topic::Compare, Topic::Family, Topic::Paper,   Topic::Layouts};
/// Also the name of the command that asks the same: "explain", "slack" ...; that of "layouts" is `heddle solve --choose all`.
const char* to_string(Topic topic);

/// What there is to choose; every topic reads its own part.
struct AskOptions {
  ExplainOptions explain;
  SlackOptions slack;
  LatencyOptions latency;
  SensitivityOptions sensitivity;
  AlternativesOptions alternatives;
  ParetoOptions pareto;
  FamilyOptions family;
  PaperOptions paper;
  bool layouts_open = false;              ///< price, sensitivity, pareto: layouts and instructions are left open, too
  std::optional<double> timeout_seconds;  ///< none: as the session is set
  bool operator==(const AskOptions&) const = default;
};

}  // namespace heddle::app
