// What was found out by compiling several schedules of one kernel and judging their machine code: a table, the fastest as compiled first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/base/json.h"
#include "core/base/text_style.h"

namespace heddle::app {

struct JudgedSchedule {
  std::string name;                    ///< "solved", "fa3", "program 3": the third shortest by the rule of motion
  std::vector<std::string> order;      ///< of the ops, group by group
  double period = 0;                   ///< by the rule of motion, cycles; 0: it has none
  std::optional<Cycle> as_compiled{};  ///< cycles of an iteration by the machine code; predicted
  std::string against{};               ///< why it is behind all others: it cannot be written, spills, is serialised; empty: nothing
  std::optional<std::string> rule{};   ///< the name of that rule; none: it does not compile, or nothing is against it
};

struct Judgement {
  std::vector<JudgedSchedule> ranked;  ///< those that were looked at; the first is the answer
  std::size_t candidates = 0;          ///< that there were
  double seconds = 0;
  std::string why{};  ///< not all candidates were looked at, or nothing was judged: why

  /// The shortest by the rule of motion of those that were looked at; nothing where none has a period.
  std::optional<std::size_t> least() const;
};

/// "program 1 is the fastest as compiled: ...", then a short table where it is not the least by the rule or others were looked at.
/// Empty where nothing was judged.
std::string judgement_text(const Judgement& judgement, const TextStyle& style);
Json judgement_json(const Judgement& judgement);
/// Of that, in a document with these definitions.
Json judgement_schema(Json& definitions);

}  // namespace heddle::app
