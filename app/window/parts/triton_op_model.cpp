#include "app/window/parts/triton_op_model.h"

#include <fmt/format.h>

#include "app/session/files.h"
#include "core/base/text_style.h"

namespace heddle::app {

TritonOpModel describe_triton_op(const TritonText& source, const std::string& op) {
  TritonOpModel model;
  const triton::Origin* origin = origin_of(source, op);
  if (!origin) return model;
  const TritonText::SharedProgram program = source.program();
  const mlir::Module& module = *(*program)->module;
  for (const mlir::OpId of : origin->of) {
    const mlir::Op& from = module.op(of);
    const std::string name = from.results.empty() ? from.name : "%" + module.value(from.results.front()).name;
    model.names += (model.names.empty() ? "" : ", ") + printable(name);
  }
  const auto add = [&](const char* what, const std::optional<std::int64_t>& number) {
    if (number) model.decision += fmt::format("{}{} {}", model.decision.empty() ? "" : ", ", what, *number);
  };
  add("stage", origin->stage);
  add("cluster", origin->cluster);
  add("partition", origin->partition);
  model.text_line = origin->text_line;
  model.file = origin->file;
  model.line = origin->line;
  if (origin->file.empty()) return model;
  model.place = printable(base_name(origin->file)) + (origin->line > 0 ? fmt::format(":{}", origin->line) : "");
  model.code = line_of_file(find_source_file(source, origin->file), origin->line);
  return model;
}

}  // namespace heddle::app
