// CSV from the visit() of a row (core/formats/members.h): a column for each member, a field for what is written. For .cpp files only.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/chart/csv.h"
#include "core/formats/members.h"

namespace heddle {

namespace as {

/// A number with so many digits behind its point.
struct Fixed {
  int digits;
  Json write(double value) const { return fmt::format("{:.{}f}", value, digits); }
};
constexpr Fixed fixed(int digits) { return {digits}; }

}  // namespace as

class MemberColumns : public Members<MemberColumns> {
 public:
  explicit MemberColumns(bool heads) : heads_(heads) {}

  std::vector<std::string> record;

  template <class T, class Kind>
  void member(const MemberKey& key, const T& value, const Kind& kind) {
    if (heads_ || !key.written)
      record.emplace_back(heads_ ? key.name : "");
    else if constexpr (std::invocable<const T&>)
      member(key, value(), kind);
    else
      record.push_back(text(kind.write(value)));
  }
  template <class T, class Kind>
  void member(MemberKey key, const std::optional<T>& value, const Kind& kind) {
    key.written = key.written && value;
    member(key, value ? *value : T{}, kind);
  }

 private:
  static std::string text(const Json& json) {
    if (const bool* flag = json.boolean()) return *flag ? "1" : "0";
    return json.string() ? *json.string() : json.line();
  }

  bool heads_;  ///< the names of the columns, nothing else
};

template <class T>
std::string csv_of(const std::vector<T>& rows) {
  const auto record = [](bool heads, const T& row) {
    MemberColumns columns(heads);
    visit(columns, row);
    return csv_record(columns.record);
  };
  std::string text = record(true, T{});
  for (const T& row : rows) text += record(false, row);
  return text;
}

}  // namespace heddle
