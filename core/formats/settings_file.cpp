#include "core/formats/settings_file.h"

#include <filesystem>

#include "core/base/atomic_file.h"

namespace heddle {

SettingsFile SettingsFile::load(const std::string& path, std::vector<Fault>* trouble) {
  std::error_code code;
  if (!std::filesystem::exists(path, code)) return {};
  const Result<std::string> text = read_file(path);
  if (text) return parse(*text, path, trouble);
  if (trouble) *trouble = text.error().faults;
  return {};
}

SettingsFile SettingsFile::parse(std::string_view text, const std::string& file_name, std::vector<Fault>* trouble) {
  SettingsFile settings;
  Result<Json> json = parse_json(text, file_name);
  if (json && json->is_object())
    settings.root_ = std::move(*json);
  else if (trouble)
    *trouble = json ? std::vector<Fault>{{file_name, {}, "expected an object of settings", {}}} : json.error().faults;
  return settings;
}

std::string SettingsFile::text(std::string_view key, std::string otherwise) const {
  const Json* value = root_.find(key);
  return value && value->string() ? *value->string() : otherwise;
}

std::int64_t SettingsFile::integer(std::string_view key, std::int64_t otherwise) const {
  const Json* value = root_.find(key);
  return value && value->integer() ? *value->integer() : otherwise;
}

double SettingsFile::number(std::string_view key, double otherwise) const {
  const Json* value = root_.find(key);
  if (value && value->integer()) return static_cast<double>(*value->integer());
  return value && value->number() ? *value->number() : otherwise;
}

bool SettingsFile::flag(std::string_view key, bool otherwise) const {
  const Json* value = root_.find(key);
  return value && value->boolean() ? *value->boolean() : otherwise;
}

std::vector<std::string> SettingsFile::list(std::string_view key) const {
  std::vector<std::string> out;
  const Json* value = root_.find(key);
  if (value && value->items())
    for (const Json& item : *value->items())
      if (item.string()) out.push_back(*item.string());
  return out;
}

std::vector<std::pair<std::string, std::string>> SettingsFile::table(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> out;
  const Json* value = root_.find(key);
  if (value && value->members())
    for (const JsonMember& member : *value->members())
      if (member.value.string()) out.emplace_back(member.key, *member.value.string());
  return out;
}

void SettingsFile::set(const std::string& key, const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push(value);
  root_.set(key, std::move(list));
}

void SettingsFile::set(const std::string& key, const std::vector<std::pair<std::string, std::string>>& members) {
  Json object = Json::object();
  for (const auto& [name, text] : members) object.set(name, text);
  root_.set(key, std::move(object));
}

Result<Ok> SettingsFile::save(const std::string& path) const { return write_file(path, to_text(), MissingFolder::Create); }

}  // namespace heddle
