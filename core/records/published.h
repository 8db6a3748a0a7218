// A measured kernel, and what of Heddle stands for it: a row of a file of published measurements (heddle.published/1), or
// a measurement of one's own. With the list of the machines that rows name, and of the bands in which predictions are to stay.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle {

/// The simulation that comes closest to a row's kernel, in the words of `heddle simulate`.
struct Counterpart {
  std::string kernel;
  std::optional<std::string> schedule;  ///< nothing: the solver's own
  std::vector<std::pair<std::string, std::int64_t>> params;
  std::vector<std::string> options;  ///< "--persistent"
  bool persistent = false;           ///< of one's own measurement, where options say nothing
  double clock_mhz = 0;              ///< likewise; 0: not known
  std::string schedule_text{};       ///< of one's own measurement: the schedule itself (heddle.schedule/1), instead of a name
  auto operator<=>(const Counterpart&) const = default;
};

/// Two rows of one source and machine that differ in one thing: the row that has the pair is to be compared with another.
struct OrderingPair {
  std::string than;     ///< id of the other row
  std::string changes;  ///< what this row has and the other has not
  std::string not_yet;  ///< why the model is known to say something else; empty: its sign has to be right
};

struct PublishedRow {
  std::string id, kind, kernel, implementation, machine, source;
  std::optional<std::int64_t> power_w;
  bool zeros = false;  ///< the data was all zeros
  bool causal = false;
  double tflops = 0;                            ///< measured
  std::map<std::string, std::int64_t> problem;  ///< sizes, "M" or "q_len"
  double flops = 0;                             ///< that it counts, 10^0; 0: unknown
  std::optional<Counterpart> counterpart;
  std::vector<OrderingPair> pairs;
  std::string fitted;          ///< which number of Heddle's was made from it; such a row is shown and does not count
  std::string file;            ///< with its line, for messages
  bool known_machine = false;  ///< `machine` is a machine file's name, not one of the list
};

/// What rows call a machine, and what stands for it here.
struct NamedMachine {
  std::string name;                         ///< "gb200"
  std::optional<std::int64_t> power_w;      ///< only rows that state this limit; else any
  std::string machine;                      ///< machine file
  std::optional<std::int64_t> sms;          ///< where there are more or fewer than in that file
  std::optional<std::int64_t> use_power_w;  ///< the limit to simulate with; else the row's, else the machine file's
  std::string measured;                     ///< of an anchor, "cublas_8192=665"; empty: none is known
};

/// Where the median of measured over predicted speed has to lie for one kind of kernel on one architecture, and what it was when
/// that was last written down.
struct Band {
  std::string kind, arch;
  double low = 0, high = 0;
  double median = 0, spread = 0;  ///< spread: standard deviation of the ratio's logarithm
  std::int64_t rows = 0;          ///< that it rests on; 0: nothing was written down
};

struct ValidationGround {
  std::vector<NamedMachine> machines;
  std::vector<Band> bands;
  /// The entry for a row's machine, those with its power limit first; nullptr when there is none.
  const NamedMachine* find(const PublishedRow& row) const;
};

}  // namespace heddle
