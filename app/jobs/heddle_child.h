// heddle itself as a child: for work that may be ended at any moment, or that could take this program down with it.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/jobs/child_process.h"

namespace heddle::app {

/// The command-line program beside this one; empty: there is none.
std::string heddle_beside();

/// A line of heddle's as something of ours: without "heddle: " before it.
std::string_view without_name(std::string_view line);

/// As run_child; `say` gets its lines without_name and printable.
Result<ChildResult> run_heddle_child(std::vector<std::string> words, std::stop_token stop, const std::function<void(std::string)>& say);

/// Why it ended, where it did not do what it was asked to: its last word, else its signal or code.
std::string ending_of(const ChildResult& child, std::string_view command);

}  // namespace heddle::app
