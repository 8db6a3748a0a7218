// The three schedules of the open Triton kernel as a table: Triton's, the best Triton could do, the best the machine could do; what the
// difference costs, and what other options would give.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"
#include "app/session/tone.h"
#include "app/window/kit/column.h"
#include "core/triton/audit/comparison.h"

namespace heddle::app {

struct TritonRow {
  triton::Whose whose{};
  std::string name, about;
  bool there = false, shown = false;
  std::string ii, period, more, groups, stages, shared, tensor;
  std::string standing;  ///< "proved", "not proved, bound 2 048", "predicted", "none: it does not fit"
  Tone tone = Tone::Neutral;
};

struct TritonOption {
  std::string stages, warps, period, change, shared, remark;
  bool now = false, fits = true, better = false;
};

struct TritonModel {
  std::string title;     ///< "attention_forward · h100"
  std::string headline;  ///< all three in one sentence
  bool running = false, cancelled = false;
  std::string doing;                 ///< what is being worked on, and how long so far
  std::vector<std::string> faults;   ///< why there is nothing to compare
  std::vector<TritonRow> rows;       ///< three, or none
  std::vector<std::string> prices;   ///< of the difference, a sentence each
  std::vector<std::string> reasons;  ///< why each is not better
  std::vector<TritonOption> options;
  std::string best_option;
  bool tensor = false;  ///< the machine has tensor memory
};

TritonModel build_triton_tab(const Session& session);
std::vector<Column<TritonRow>> triton_columns(bool tensor);
std::vector<Column<TritonOption>> option_columns();
/// Both tables, tab-separated, and the sentences.
std::string triton_tsv(const TritonModel& model);

}  // namespace heddle::app
