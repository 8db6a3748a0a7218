// What a check found, as text for people and as JSON for programs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text_style.h"
#include "ptx/launch/launch.h"
#include "ptx/report/check.h"

namespace heddle::ptx {

/// One launch of what was asked about, and what came of it.
struct CheckedLaunch {
  std::string name;               ///< "launch/0.json", "gemm.ptx", "gemm.ptx at K=320"
  std::string text_path;          ///< of the PTX
  Launch launch;                  ///< as it was run
  std::vector<std::string> told;  ///< how it differs from the one that was given
  std::optional<Checked> checked;
  Error error{};                              ///< why it could not be read; of use where `checked` is not there
  std::shared_ptr<const PtxModule> module{};  ///< what was run; null where it could not be read
};

/// "in order", "not in order: 2 wrong, 1 doubtful", "stopped at line 80: ...", "cannot be read: ...".
std::string verdict_text(const CheckedLaunch& launch);

/// The verdict, findings by rank with their lines (one of those that a rule has at a line), what was not seen, branches on data. Ends with
/// a newline.
std::string check_text(const CheckedLaunch& launch, const TextStyle& style);
/// A line for each launch.
std::string check_lines(const std::vector<CheckedLaunch>& launches, const TextStyle& style);

/// heddle.ptx_check/1
Json check_json(const std::vector<CheckedLaunch>& launches);
Json ptx_check_schema();

/// Of launches whose runs are shown: heddle.ptx_show/1.
Json show_json(const std::vector<CheckedLaunch>& launches);
Json ptx_show_schema();

}  // namespace heddle::ptx
