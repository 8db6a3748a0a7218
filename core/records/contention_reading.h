// What an experiment on a GPU says of one number of a machine file's contention (core/machine/contention.h), beside what the file says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/machine/contention.h"

namespace heddle {

enum class ReadingVerdict {
  Inside,  ///< of the range that the file states
  Below,
  Above,
  Open  ///< the file has no such number: told, not judged
};
const char* to_string(ReadingVerdict verdict);  ///< "inside" ... "open"

struct ContentionReading {
  std::string experiment;  ///< "accepted", "beside" ...; of a loop: the step
  std::string number;      ///< as each_number() names it; "period": of a loop by the rule of motion; empty: none of the file's
  std::string of;          ///< what was measured: "maxima beside mmas, both operands in shared memory"
  std::string unit;        ///< "cycles", "1/1000 cycle", "mmas", "percent"
  double measured = 0;
  double value = 0, least = 0, most = 0;  ///< what the file has, and its range; of a period: the rule's, and over all ranges
  ReadingVerdict verdict = ReadingVerdict::Open;
};

struct ContentionReadings {
  std::string machine, device, date, heddle, command;
  std::vector<ContentionReading> readings;
};

/// Beside the number of the file that is called `number`; without one, or where the file has no contention, Open.
ContentionReading reading_of(const Contention& contention, std::string_view number, std::string of, double measured);

/// Sets the verdict from measured, least and most. A number of the file has no fraction, so neither does what is held against it.
void judge(ContentionReading& reading);

}  // namespace heddle
