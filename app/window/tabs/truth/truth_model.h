// Predictions against published measurements as points, rows, kinds and pairs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/session/tone.h"
#include "app/session/truth_state.h"
#include "app/window/kit/column.h"
#include "app/window/parts/time_bar_model.h"

namespace heddle::app {

struct TruthRow {
  std::size_t index = 0;  ///< of the validation's rows
  std::string id, kind, implementation, machine;
  std::string fitted;                  ///< which number of Heddle's was made from it; empty: none
  std::string clock, busiest;          ///< of the prediction
  std::string why_not;                 ///< why there is none
  std::size_t color = 0, shape = 0;    ///< of TruthModel::kinds, ::machines
  double measured = 0, predicted = 0;  ///< TFLOP/s; predicted 0: not
  double ratio = 0;                    ///< measured over predicted
  bool has_point() const { return predicted > 0; }
};

struct TruthKind {
  std::string name, rows, median, mean, spread, range, close, band;
  double order = 0;  ///< the median
  double average = 0, deviation = 0, least = 0, part_close = 0;
  std::size_t count = 0;
  bool inside = true;  ///< the median is in its band
};

struct TruthPair {
  std::size_t row = 0;  ///< the one that has something; of the validation's rows
  std::string who, what, measured, predicted, verdict, known;
  double measured_gain = 0, predicted_gain = 0;
  Tone tone = Tone::Neutral;
};

struct TruthModel {
  std::string headline;
  bool holds = true;
  std::vector<TruthRow> rows;  ///< as the files have them
  std::vector<TruthKind> kind_rows;
  std::vector<TruthPair> pairs;
  /// Of rows with a prediction: a colour each, a symbol each (machine files).
  std::vector<std::string> kinds, machines;
  double low = 1, high = 10;  ///< speeds of both axes
};

TruthModel build_truth(const TruthAnswer& answer);

/// "measured 661, predicted 674 TFLOP/s · ratio 0.98". Pre: has_point().
std::string speeds_text(const TruthRow& row);
/// What the mouse over a point says.
std::string about_truth(const TruthRow& row);
/// What the row's prediction is made of, and where the measurement is.
TimeBar build_bar(const ValidatedRow& row, const std::vector<TimePart>& parts);

/// The line of the command line that simulates it; empty where nothing stands for it.
std::string simulate_line(const TruthAnswer& answer, std::size_t row);

std::vector<Column<TruthRow>> truth_columns();
std::vector<Column<TruthKind>> kind_columns();
std::vector<Column<TruthPair>> pair_columns();

}  // namespace heddle::app
