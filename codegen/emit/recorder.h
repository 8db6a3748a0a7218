// The recording build: what of it stands in the text (records.h says what a record is). In other builds these write nothing.
#pragma once

#include <string>

#include "codegen/emit/context.h"

namespace heddle::codegen {

RecordPlan plan_records(const Program& program, Recording recording);

/// "block_begins" or "block_ends", for the blocks that record.
std::string record_head(const EmitContext& emit, const char* what);
void begin_records(EmitContext& emit);
void record_loop(EmitContext& emit, bool begins);
void record_pass(EmitContext& emit);
void record_before(EmitContext& emit, const Step& step);
void record_after(EmitContext& emit, const Step& step);
void flush_records(EmitContext& emit, const std::string& iteration);
bool recording_ops(const EmitContext& emit);

}  // namespace heddle::codegen
