// What there is to choose of a compiler's file (its kernels and passes, loops, readings), in words; and the schedules that it holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace heddle {

/// What of a file is meant; what is not said stays as it is.
struct FilePart {
  std::optional<std::string> words{};    ///< of an offer: another kernel, another pass
  std::optional<std::int64_t> loop{};    ///< its number
  std::optional<std::string> reading{};  ///< "full", "issue-slots"; "triton", "free"
};

/// A kernel or pass of the file, a loop, a reading.
struct SourceChoice {
  std::string id;
  std::string name;   ///< "loop 0 in 1"
  std::string facts;  ///< "31 ops · II 1 325"
  std::string about;  ///< more than there is room for; may be empty
  bool current = false;
  std::optional<FilePart> part;  ///< makes it the current one; none: nothing of it can be scheduled
};

struct SourceOutline {
  std::string title;   ///< "DUMP"
  std::string file;    ///< its name, and the variants where there are some
  std::string format;  ///< "schedule_graph 0.1"
  std::string about;   ///< who made it, what its limits are
  std::vector<SourceChoice> offers, loops, readings;
};

/// What both readings of a dump say of a schedule that it stores, in one sentence.
struct BothReadings {
  bool own = true, full = true;  ///< nothing is wrong by the compiler's reading; by the full one
  std::string sentence;
};

/// A schedule that a compiler's file holds.
struct OwnSchedule {
  std::string name;  ///< "stored", "variant 2", "Triton's"
  std::string file;  ///< that names just this one; empty: none does
  Schedule schedule;
  bool meant = true;                               ///< it is of what is meant; of a file of variants all are there
  bool bound = true;                               ///< it has to obey the rules of its compiler's passes; false: those keep searches only
  std::shared_ptr<const BothReadings> readings{};  ///< null: there is one word on it
};

}  // namespace heddle
