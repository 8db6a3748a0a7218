// Everything that is said about one op: where it is, why it is there, what it waits for and who waits for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/analysis/usage.h"
#include "core/answers/slack.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// A dependence seen from the op.
struct InspectorLink {
  OpId other;
  bool incoming = true;
  std::string value;  ///< name; empty for pure order
  Cycle latency = 0;  ///< hand-off included where it applies
  int distance = 0;
  std::optional<Cycle> slack;  ///< none without a schedule; 0: tight
};

/// Something that keeps the op from being elsewhere, as a sentence; `other` may be invalid.
struct InspectorReason {
  std::string sentence;
  OpId other;
};

/// A line "label   value".
struct InspectorFact {
  std::string label, value;
  bool warn = false;
};

struct InspectorModel {
  OpId op;
  std::string name, kind, unit, group;
  UnitRole role = UnitRole::Other;
  std::vector<InspectorFact> facts;
  bool layout = false;                   ///< it moves a tile whose layout can be looked at
  std::string source;                    ///< where its latency comes from; may be empty
  std::vector<std::string> range;        ///< where else it could be at this II, as far as it is known
  std::vector<InspectorReason> earlier;  ///< why it does not start earlier
  std::vector<InspectorReason> later;    ///< why it does not start later
  std::vector<InspectorLink> links;      ///< incoming first, tightest first
  std::vector<std::string> violations;   ///< of which it is part
};

/// Its values have registers; those of dumps do not, and then nothing is said about them.
bool counts_registers(const Problem& problem);
/// What is known about where else the op could be: a line per tier, then who holds it.
void add_range(const SlackRanges& slack, InspectorModel& model);

/// Pre: `schedule`, `usage` and `verdict` are all given or none; the schedule fits the problem.
InspectorModel inspect(const Problem& problem, OpId op, const Schedule* schedule, const Usage* usage, const Verdict* verdict);

}  // namespace heddle::app
