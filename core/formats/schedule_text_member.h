// A member that is a heddle.schedule/1, kept as the text that a file of its own would have. For the visitors of core/formats/members.h.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/json_reader.h"

namespace heddle::as {

struct ScheduleText {
  void read(const Cursor& at, std::string& schedule) const {
    ObjectReader object(at);  // says where there is none
    if (object.good()) schedule = at.json().line();
    object.abandon();  // whoever needs the schedule reads it against its problem
  }
  Json write(const std::string& schedule) const {
    Result<Json> json = parse_json(schedule, {});
    return json ? *std::move(json) : Json();
  }
  Json schema(const std::string&, Json&) const { return Json(Json::Object{{"type", "object"}}); }
};

}  // namespace heddle::as
