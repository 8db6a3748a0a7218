// The answer of `heddle validate`: predicted speeds beside measured ones, row by row, by kind of kernel, and for pairs of rows that
// differ in one thing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/records/published.h"

namespace heddle {

/// What the simulator says of a row.
struct Prediction {
  std::string arch;     ///< of the machine file; empty where there is none
  double tflops = 0;    ///< counted as the row's are; 0: there is no prediction
  std::string clock;    ///< that it assumes
  std::string binds;    ///< the busiest unit, "TC 91 %"
  std::string why_not;  ///< why there is none
  double microseconds = 0;
};

struct ValidatedRow {
  PublishedRow row;
  Prediction prediction;
  bool predicted() const { return prediction.tflops > 0; }
  double ratio() const { return row.tflops / prediction.tflops; }  ///< Pre: predicted()
};

/// What is computed, "attention_forward_causal": rows of one kind are put together.
std::string kind_of(const PublishedRow& row);

struct ValidatedKind {
  std::string kind, arch;
  std::size_t rows = 0;         ///< those that nothing was fitted to
  double median = 0, mean = 0;  ///< of measured over predicted; the mean is geometric
  double spread = 0;            ///< standard deviation of the ratio's logarithm
  double low = 0, high = 0;     ///< least and greatest
  double close = 0;             ///< part of the rows that are off by at most 10 %
  std::optional<Band> band;
  bool inside() const { return !band || (median >= band->low && median <= band->high); }
};

inline constexpr double kSizePoints = 0.05;

/// `gain`: how much faster the row with the pair is than the other.
struct ValidatedPair {
  std::string id;
  OrderingPair pair;
  double measured = 1;
  std::optional<double> predicted;  ///< nothing: the model cannot express what the two differ in
  std::string why_not;
  bool fitted = false;      ///< a number of Heddle's was made from both rows
  bool sign_right() const;  ///< faster or slower, as measured
  bool size_right() const;  ///< and within kSizePoints of the measured gain
  bool expected() const { return !predicted || sign_right() || !pair.not_yet.empty(); }
};

struct Validation {
  std::vector<ValidatedRow> rows;
  std::vector<ValidatedKind> kinds;
  std::vector<ValidatedPair> pairs;
  bool complete = true;  ///< false: stopped before its end
  /// Every median is in its band, and every pair has the sign that it is stated to have.
  bool holds() const;
};

/// Sums up. Rows that the run did not come to have a prediction that says so.
Validation sum_up(std::vector<ValidatedRow> rows, const ValidationGround& ground, bool complete);

/// How far predictions for one kind of kernel can be trusted.
struct Trust {
  bool validated = false;
  std::string brief;  ///< "validated, spread 8 %", "model, not validated"
  std::string text;   ///< the same as a sentence
};
/// Of a kind ("attention_forward_causal") on an architecture; not validated where no published measurements were compared.
Trust trust_of(const ValidationGround& ground, const std::string& kind, const std::string& arch);

std::string validation_headline(const Validation& validation);
/// "gemm, sm_90a"
std::string kind_title(const ValidatedKind& kind);
/// "0.94 to 1.04", and whether the median has left it; "" where there is no band.
std::string band_text(const ValidatedKind& kind);
/// "+13.6 %"
std::string gain_text(double gain);
/// "sign and size right", "sign wrong", "fitted to it", "not expressed" ...
std::string pair_verdict(const ValidatedPair& pair);
/// Row by row, by kind, by pair.
std::string validation_text(const Validation& validation, const TextStyle& style);
std::string validation_markdown(const Validation& validation);
Json validation_json(const Validation& validation);
Json validated_schema();

}  // namespace heddle
