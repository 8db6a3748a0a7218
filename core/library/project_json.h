// Project files: heddle.project/1. What a person has before him when he works: kernel and machine (by shipped name or by a path
// relative to the project's file), parameters, changed numbers, demands, schedules with what is known about them, notes and
// how it was looked at. Kernel and machine are copied into it only where no file
// holds their text; a digest of each tells when a file has changed since.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/chart/gantt_model.h"
#include "core/instance/instance.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// A remark at an op, or at a cycle of the chart.
struct ProjectNote {
  std::string text;
  std::string op;  ///< empty: at a cycle
  Cycle at = 0;
};

/// A schedule and what was known about it. Statements hold for the project's problem under the project's demands. They are there to
/// be written: a project that was read says them as its schedules' claims.
struct ProjectSchedule {
  std::string name;
  Schedule schedule;
  Status status = Status::Unknown;
  std::optional<Cycle> lower_bound;  ///< proved
  std::string explanation;
  std::vector<ObjectiveValue> objectives;
  double seconds = 0;
  std::string file;  ///< where it was read from; may be empty
};

/// How it was looked at. What a version does not know it leaves alone.
struct ProjectView {
  GanttMode mode = GanttMode::Steady;
  std::optional<int> iterations;
  std::string tab;
  std::optional<std::pair<Cycle, Cycle>> visible;  ///< cycles at the chart's edges
  std::map<std::string, bool> switches;            ///< overlays
  std::map<std::string, std::string> choices;
};

/// A text that no file holds: written or changed in the window and not saved.
struct ProjectText {
  std::string text;   ///< what kernel or machine are read from; empty: from their file
  std::string draft;  ///< what stands in the editor instead, with faults; empty: the same
};

struct Project {
  InstanceSpec spec;  ///< its parameters are those that differ from the kernel's defaults
  ProjectText kernel_text, machine_text;
  std::shared_ptr<const Problem> problem;  ///< of the spec
  Constraints constraints;
  std::vector<ProjectSchedule> schedules;
  std::optional<std::size_t> shown, baseline;  ///< A and B
  std::vector<ProjectNote> notes;
  std::vector<Cycle> flags;
  std::vector<std::string> selection;  ///< ops
  ProjectView view;
  std::string unsaved_of;  ///< the project file that this is a later state of; only in what is kept safe from crashes
};

Json project_schema();

/// Reads a project with the kernel and machine that it names, and resolves the problem. Every schedule has one placement per
/// op. All faults come together, also those of several files. Warnings: the kernel or the machine has changed since the project
/// was saved, or it does not say which problem it is about; what was proved is then no longer claimed.
Result<Project> read_project(const std::string& path, std::vector<Fault>* warnings = nullptr);
/// Paths are relative to `folder`.
Result<Project> parse_project(std::string_view text, const std::string& file_name, const std::string& folder,
                              std::vector<Fault>* warnings = nullptr);

/// The file's text; paths relative to `folder`, absolute when that is empty. With the `original` text it was read from,
/// members that Heddle does not know are kept. Pre: there is a problem.
std::string project_text(const Project& project, const std::string& folder, std::string_view original = {});

/// Enough to offer it: without reading what it refers to.
struct ProjectHead {
  std::string kernel, machine;  ///< as they are named in it
  std::size_t schedules = 0, notes = 0, constraints = 0;
};
Result<ProjectHead> parse_project_head(std::string_view text, const std::string& file_name);

}  // namespace heddle
