// How far one op's latency may change, and the least II as a function of it: put to the solver, and told.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "app/ask/ending.h"
#include "core/answers/latency.h"

namespace heddle::app {

struct LatencyOptions {
  OpId op{};
  std::optional<Cycle> from{}, to{};  ///< none: from half to twice the present one
  bool operator==(const LatencyOptions&) const = default;
};

/// The latencies that are looked at; none where `to` lies below `from`.
struct LatencySpan {
  Cycle from = 0, to = 0;
};
LatencySpan latency_span(const Problem& problem, const LatencyOptions& options);

/// The range is that of the subject's schedule, which has passed the checker, or of the optimum's without one. Pre: the op is one of the
/// problem's.
LatencyRange ask_latency(const Subject& subject, const LatencyOptions& options, std::stop_token stop,
                         const Listener<LatencyRange>& listener);
Ended ended(const LatencyRange& answer);
std::string told(const Subject& subject, const LatencyRange& answer, const Telling& how);

}  // namespace heddle::app
