// What heddle bench does on a machine with a GPU, as a list. First, on Hopper, the experiments that decide the numbers of contention, with
// all that they need compiled before them. The rest is in the order of risk: the simplest kernel at its smallest size first, so that what
// goes wrong is found where it can be understood; then speed, then one variant against another, then what explains the times.
#pragma once

#include <string>
#include <vector>

namespace heddle::app {

enum class BenchStepKind {
  Prepare,     ///< a schedule is found and its kernel compiled, or micro-kernels are; needs no GPU
  Contention,  ///< what decides a number of contention: micro-kernels, or an order of a kernel whose period the numbers predict
  Check,       ///< a small size: is the result right?
  FollowUp,    ///< of a check that failed: a question that tells its causes apart
  Speed,       ///< a full size, beside the vendor's library
  Compare,     ///< the same with one thing changed
  Profile,     ///< what every op did when
  Calibrate,   ///< the machine's costs
  Sanitize     ///< a small size under compute-sanitizer
};
const char* to_string(BenchStepKind kind);  ///< "prepare" ... "sanitize"

struct BenchStep {
  std::string name{};  ///< of its files, too: NAME.json, NAME.log
  BenchStepKind kind = BenchStepKind::Check;
  std::string about{};    ///< what is new in it, for a person
  std::string subject{};  ///< of which schedule: FOLDER/schedules/SUBJECT.json; empty: of none
  /// The schedule is not found but comes from this file of the library, a schedule or a measurement (order.h); empty: it is found.
  std::string order{};
  /// Command and arguments of heddle. With a subject the first three are COMMAND KERNEL MACHINE, and the schedule follows them.
  std::vector<std::string> words{};
  std::vector<std::string> tool{};  ///< what runs heddle, with its arguments; empty: nothing does
  std::string needs{};              ///< the check, or what prepares it, that must not have failed; of a follow-up: the check that must have
  std::string beside{};             ///< of a comparison, or of an order: the step that it is compared with
  std::string if_right{}, if_not{};  ///< of a follow-up: what its result tells about the check
  double limit_seconds = 0;          ///< of wall time
};

/// Every step for a machine, "h100", "b200" or a file. `folder`: where files that a step writes beside its measurement go. Blackwell's
/// steps come in the same order of risk: a plain GEMM, pairs of blocks, attention.
std::vector<BenchStep> bench_steps(const std::string& machine, const std::string& folder, bool blackwell = false);

/// FOLDER/schedules/SUBJECT.json
std::string schedule_file(const std::string& folder, const std::string& subject);

}  // namespace heddle::app
