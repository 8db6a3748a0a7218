// Schedule files: heddle.schedule/1. A schedule is read against the problem it is for, because its starts and depths
// are indexed like that problem's ops and channels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

Json schedule_schema();
// As parts of other documents' schemas.
Json schedule_schema(Json& definitions);
Json objectives_schema(Json& definitions);

/// Which problem a schedule file is for: enough to build that problem and read the rest.
struct ScheduleHead {
  std::string name, kernel, machine;
  Scope params;
  LayoutChoices layouts{};
};
Result<ScheduleHead> parse_schedule_head(std::string_view text, const std::string& file_name);

/// Faults: ops missing, unknown or placed twice, groups that do not exist, stage, slot or group lists that contradict
/// starts and groups, channels without a depth. What is answered has form (core/check/form.h); whether it is legal is the checker's
/// business.
/// Warnings: made for other parameters, layouts or instructions, or for another machine; a certificate for another problem, which is
/// dropped.
Result<Schedule> parse_schedule(std::string_view text, const std::string& file_name, const Problem& problem,
                                std::vector<Fault>* warnings = nullptr);
/// A schedule without form is a fault of its file, whatever was read there.
Result<Schedule> with_form(Result<Schedule> schedule, const std::string& file, const Problem& problem);

/// The file's text. With the `original` text it was read from, members that Heddle does not know are kept.
std::string schedule_text(const Problem& problem, const Schedule& schedule, std::string_view original = {});

// The same as parts of other files.
class Cursor;
class ObjectReader;
void read_schedule_from(const Cursor& at, const Problem& problem, Schedule& schedule);
Json schedule_json(const Problem& problem, const Schedule& schedule);
Scope read_params_from(ObjectReader& root);  ///< the member "params", if there is one
/// [{name, value, proved}]
std::vector<ObjectiveValue> read_objectives_from(ObjectReader& root);

// Parts that solve reports share.
Json groups_json(const Problem& problem, const Schedule& schedule);      ///< [{id, role, warps, registers, ops}]
Json placements_json(const Problem& problem, const Schedule& schedule);  ///< [{id, start, stage, slot, group}]
Json channels_json(const Problem& problem, const Schedule& schedule);    ///< [{value, depth}], those with slots
Json objectives_json(const std::vector<ObjectiveValue>& objectives);     ///< [{name, value, proved}]
Json params_json(const Scope& params);
// What the first three look like.
Json groups_schema(Json& definitions);
Json placements_schema(Json& definitions);
Json channels_schema(Json& definitions);
Json names_json(const std::vector<std::string>& names);

}  // namespace heddle
