#include "app/jobs/file_names.h"

#include <cctype>
#include <ctime>

namespace heddle::app {

std::string safe_file_name(std::string_view name) {
  constexpr std::size_t kLongest = 60;
  std::string word;
  for (const char c : name.substr(0, kLongest)) word += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return word;
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

}  // namespace heddle::app
