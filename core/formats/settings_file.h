// A flat JSON object of settings: the window's preferences and layout. Forgiving by design - a damaged or missing file
// means defaults - and it keeps every key that this version does not know.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace heddle {

class SettingsFile {
 public:
  /// A missing file gives empty settings; an unreadable one too, with the reason in `trouble` where given.
  static SettingsFile load(const std::string& path, std::vector<Fault>* trouble = nullptr);
  static SettingsFile parse(std::string_view text, const std::string& file_name, std::vector<Fault>* trouble = nullptr);

  // Answers `otherwise` when the key is absent or holds something else.
  std::string text(std::string_view key, std::string otherwise = {}) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  std::vector<std::string> list(std::string_view key) const;
  /// Members of an object that are texts, in the order of the file.
  std::vector<std::pair<std::string, std::string>> table(std::string_view key) const;

  void set(const std::string& key, std::string value) { root_.set(key, std::move(value)); }
  void set(const std::string& key, const char* value) { root_.set(key, value); }
  void set(const std::string& key, std::int64_t value) { root_.set(key, value); }
  void set(const std::string& key, int value) { root_.set(key, value); }
  void set(const std::string& key, double value) { root_.set(key, value); }
  void set(const std::string& key, bool value) { root_.set(key, value); }
  void set(const std::string& key, const std::vector<std::string>& values);
  void set(const std::string& key, const std::vector<std::pair<std::string, std::string>>& members);

  std::string to_text() const { return root_.pretty(); }
  /// Atomic; makes the folder.
  Result<Ok> save(const std::string& path) const;

 private:
  Json root_ = Json::object();
};

}  // namespace heddle
