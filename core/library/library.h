// What ships with Heddle - kernels, machines, hand schedules - and how a name on the command line becomes a
// file.
//
// The shipped data lies in a folder with `kernels/` and `assets/`: $HEDDLE_ASSETS if set, else the nearest folder above the
// running program that is one or has one as `share/heddle`, else the source tree that it was built from.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"

namespace heddle {

class Source;

/// The folder itself; an environment error that lists the places searched when there is none.
Result<std::string> library_root();
/// "assets/themes/dark.json" -> absolute path, whether or not it exists.
Result<std::string> library_file(const std::string& relative);

enum class Shelf { Kernels, Machines, Schedules };

struct LibraryEntry {
  std::string name;  ///< what to type: "toy_fig1"; schedules: "attention_forward_hopper/fa3"
  std::string path;
};
/// Sorted by name; empty when there is no library.
std::vector<LibraryEntry> list_library(Shelf shelf);

/// A path if it looks like one (has a slash or ends in .json) or exists, else a shipped name; unknown names are faults
/// with the nearest known one.
Result<std::string> find_in_library(Shelf shelf, const std::string& name_or_path);

/// A schedule, also by what follows its kernel's name: "fa3" is "attention_forward_hopper/fa3" for that kernel, unless a file is called so.
Result<std::string> find_schedule(const std::string& name_or_path, const std::string& kernel);

/// A project file, by the ending of its name, ".heddle.json": given as a kernel it stands for the machine too, and, where no other is
/// given, for the schedule.
bool is_project(const std::string& name);

/// The way back: what to type for a file that was found here, its shipped name or the path itself; cuts stay.
std::string name_in_library(Shelf shelf, const std::string& path);

/// The kernel of a source, and a machine: a compiler's dump and a Triton text stand for either (core/library/source.h).
Result<Kernel> load_kernel(const std::string& name_or_path, std::vector<Fault>* warnings = nullptr);
Result<Machine> load_machine(const std::string& name_or_path, std::vector<Fault>* warnings = nullptr);

/// A schedule's file, or the own schedule of what a compiler wrote (core/library/source.h); else as parse_schedule_head and parse_schedule.
/// `known`: a source that may be of the same text.
Result<ScheduleHead> read_schedule_head(const std::string& path, const Source* known = nullptr);
Result<Schedule> read_schedule(const std::string& path, const Problem& problem, std::vector<Fault>* warnings = nullptr,
                               const Source* known = nullptr);

}  // namespace heddle
