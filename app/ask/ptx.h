// Whether a launch of somebody's PTX is in order: how it is asked (a text with a launch, a launch file, a folder of a capture; other sizes)
// and how its answer ended. The answer itself: ptx/report/check_words.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/base/result.h"
#include "ptx/launch/by_hand.h"
#include "ptx/report/check.h"
#include "ptx/report/check_words.h"

namespace heddle::app {

struct PtxQuestion {
  std::string path;                    ///< a PTX text (#KERNEL), a launch file, or a folder with launch files (app/command/ptx_form.h)
  std::string launch_path{};           ///< of a text: its launch; empty: the one beside it, or Triton's .json, or none
  std::string kernel{};                ///< where the text has several and the launch names none
  ptx::HandWords words{};              ///< by hand: over what the launch says, or all of it
  std::vector<ptx::SizeWish> sizes{};  ///< that replace those of the launch
  bool more_sizes = false;             ///< a small set of sizes besides (proposed_sizes())
  std::string machine{};               ///< name or path; empty: the shipped one of the text's target
  std::int64_t limit = ptx::CheckOptions{}.limit;
  int most_runs = ptx::CheckOptions{}.most_runs;
  std::map<int, ptx::BranchChoice> branches{};
  ptx::RunPicture picture = ptx::RunPicture::None;
  bool every_kernel = false;  ///< of a text with several where nothing names one: each is a launch
};

struct PtxAnswer {
  std::vector<ptx::CheckedLaunch> launches;
  std::vector<std::string> said;  ///< sizes that were not proposed, and why
  bool cancelled = false;
};

/// One launch of a text, ready to be run.
struct PtxLaunch {
  ptx::CheckedLaunch as;                ///< name, text, launch, what was changed; or why it cannot be read
  std::vector<std::string> warnings{};  ///< of its launch file
};
/// All that the question's path stands for, at its sizes. Fails only where nothing is there to be run; what cannot be read of several
/// stands among them.
Result<std::vector<PtxLaunch>> launches_of(const PtxQuestion& question);

/// `doing` hears what is worked on.
Result<PtxAnswer> ask_ptx(const PtxQuestion& question, std::stop_token stop, const std::function<void(const std::string&)>& doing = {});

/// Done: all in order. Negative: one is not. InvalidInput: one cannot be read. NoProof: one was stopped.
Ended ended(const PtxAnswer& answer);

}  // namespace heddle::app
