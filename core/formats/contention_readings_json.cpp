#include "core/formats/contention_readings_json.h"

#include "core/base/atomic_file.h"
#include "core/formats/contention_reading_member.h"

namespace heddle {
namespace {
constexpr const char* kContentionSchema = "heddle.contention/1";
}

template <class Io>
void visit(Io& io, ContentionReadings& r) {
  io.required("machine", r.machine, as::label);
  io.always("device", r.device, as::text);
  io.always("date", r.date, "ISO 8601, UTC");
  io.always("heddle", r.heddle, "version of the program");
  io.always("command", r.command);
  io.required("readings", r.readings);
}

Json contention_schema() {
  return document_schema<ContentionReadings>(kContentionSchema, "What micro-kernels say of a machine's numbers of contention");
}

std::string contention_text(const ContentionReadings& readings) { return document_json(kContentionSchema, readings).pretty(); }

Result<ContentionReadings> parse_contention(std::string_view text, const std::string& file) {
  return read_document<ContentionReadings>(text, file, kContentionSchema, nullptr, read_members<ContentionReadings>);
}

Result<ContentionReadings> read_contention_file(const std::string& path) {
  const Result<std::string> text = read_file(path);
  return text ? parse_contention(*text, path) : text.error();
}

}  // namespace heddle
