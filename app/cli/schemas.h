// The formats of files, and the answers of commands, whose JSON Schema `heddle schema` prints.
#pragma once

#include <span>

#include "core/base/json.h"

namespace heddle::app {

struct SchemaKind {
  const char* name;
  Json (*schema)();
};

std::span<const SchemaKind> schema_kinds();

Json compile_schema();  ///< stands where the answer is written, in codegen_commands.cpp

}  // namespace heddle::app
