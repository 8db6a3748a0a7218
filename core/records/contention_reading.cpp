#include "core/records/contention_reading.h"

#include <cmath>
#include <utility>

namespace heddle {
namespace {

const char* unit_of(std::string_view number) {
  if (number == "in_flight") return "mmas";
  if (number == "hidden" || number == "first_loads") return "percent";
  const bool fraction = number.find("per_") != std::string_view::npos || number == "special_interval";
  return fraction ? "1/1000 cycle" : "cycles";
}

}  // namespace

const char* to_string(ReadingVerdict verdict) {
  switch (verdict) {
    case ReadingVerdict::Inside: return "inside";
    case ReadingVerdict::Below: return "below";
    case ReadingVerdict::Above: return "above";
    case ReadingVerdict::Open: return "open";
  }
  return "";
}

void judge(ContentionReading& reading) {
  const double rounded = std::round(reading.measured);
  reading.verdict = reading.number.empty()    ? ReadingVerdict::Open
                    : rounded < reading.least ? ReadingVerdict::Below
                    : rounded > reading.most  ? ReadingVerdict::Above
                                              : ReadingVerdict::Inside;
}

ContentionReading reading_of(const Contention& contention, std::string_view number, std::string of, double measured) {
  ContentionReading reading;
  reading.of = std::move(of);
  reading.unit = unit_of(number);
  reading.measured = measured;
  if (!contention.known) return reading;
  each_number(contention, [&](const char* name, const RangedNumber& found) {
    if (name != number) return;
    reading.number = name;
    reading.value = static_cast<double>(found.value);
    reading.least = static_cast<double>(found.least), reading.most = static_cast<double>(found.most);
  });
  judge(reading);
  return reading;
}

}  // namespace heddle
