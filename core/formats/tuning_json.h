// Histories of tuning: heddle.tuning/1, JSON Lines that are only ever appended to.
//
// Each line is an object with "line": "run" (a session begins), "evaluation" or "end". What a killed process leaves behind is a file whose
// last line may be cut off; that line is no fault, and whoever goes on with the file cuts it away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/records/tuning.h"

namespace heddle {

struct ReadTuning {
  TuneHistory history;
  std::uint64_t whole_bytes = 0;  ///< of the complete lines: a file is continued behind them
};

/// All faults at once, with the line's number in front of the pointer ("line 3: /value"). A file without a session is a fault. Later
/// sessions must be about the same subject and space as the first. A file proves nothing: evaluations that contradict themselves or each
/// other are left out, with a warning each (set_aside_contradictions), and the others know their line.
Result<ReadTuning> read_tuning(const std::string& path, std::vector<Fault>* warnings = nullptr);
Result<ReadTuning> parse_tuning(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings = nullptr);

Json session_json(const TuneSession& session);
Json evaluation_json(const SearchSpace& space, const TuneEvaluation& evaluation);
Json end_json(const TuneEnd& end);

/// The whole of it as one object, for --json.
Json tuning_json(const TuneHistory& history);

}  // namespace heddle
