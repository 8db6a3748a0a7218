// What must hold of every run, whatever was asked.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/strange/commands.h"

namespace heddle::strange {

struct Run {
  Line line;
  int code = 0;
  std::string out, err;
};

/// Remembers what was proved and what was found in one world, so that they can contradict each other.
class Judge {
 public:
  /// One sentence per broken rule.
  std::vector<std::string> look_at(const Run& run);
  /// The check of a schedule that another run wrote.
  std::vector<std::string> look_at_check(const Run& written, const Run& check);

 private:
  struct Known {
    std::int64_t number = 0;
    std::string by;
  };
  using Ledger = std::map<std::string, std::map<std::string, Known>>;  ///< numbers, demands

  void note_bound(const Line& line, std::int64_t bound, std::vector<std::string>& broken);
  void note_schedule(const Line& line, std::int64_t ii, std::vector<std::string>& broken);

  Ledger bounds_, found_;
};

/// Whether the text is one well-formed XML element; what is wrong, or empty.
std::string xml_fault(const std::string& text);
/// Whether all rows have as many cells as the first.
std::string csv_fault(const std::string& text);
std::string utf8_fault(const std::string& text);

std::string shell_text(const Line& line);

}  // namespace heddle::strange
