// How a kernel is written beyond what its schedule says: what `heddle emit` takes as options, as the window has them, as words
// of a command line, and as projects keep them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/records.h"
#include "codegen/program/build.h"

namespace heddle::app {

inline constexpr std::int64_t kMostTrips = 1'000'000;  ///< as the command line has it

struct KernelOptions {
  codegen::BuildOptions build;
  codegen::Recording records = codegen::Recording::None;
  std::optional<std::int64_t> trips;  ///< of the loop; none: what the kernel says
  bool operator==(const KernelOptions&) const = default;
};

/// What the command line calls it: "none", "loop", "ops".
const char* to_string(codegen::Recording records);

/// The nearest that there is; of no use are clusters of other than one or two blocks, and trips out of range.
KernelOptions within_limits(KernelOptions options);

/// A flag of the command line and its value; empty: a switch. Only what is not as usual.
struct OptionWord {
  const char* flag;
  std::string value;
};
std::vector<OptionWord> option_words(const KernelOptions& options);
/// "cluster 2, no turns"; "as usual" where everything is.
std::string describe(const KernelOptions& options);

/// As projects keep them among their choices: only what is not as usual. What cannot be read is as usual.
std::map<std::string, std::string> to_choices(const KernelOptions& options);
KernelOptions options_from(const std::map<std::string, std::string>& choices);

/// Why this kernel cannot have what it does not have now; empty: it can.
struct KernelOffers {
  std::string cluster, turns, loop_records, op_records;
};

}  // namespace heddle::app
