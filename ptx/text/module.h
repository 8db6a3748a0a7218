// A PTX text as data: its functions, their instructions, variables, places in the source. Nothing is executed here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/id.h"
#include "ptx/text/opcode.h"

namespace heddle::ptx {

/// A register of one function: an index into Function::registers. Each scope of inline assembly has its own.
using RegisterId = Id<struct PtxRegisterTag>;

enum class Scalar : std::uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  Bf16,
  Bf16x2,
  F32,
  F32x2,
  F64,
  Tf32,
  E4m3,
  E5m2,
  E4m3x2,
  E5m2x2,
  E2m1,
  E2m1x2,
  E2m3,
  E3m2,
  Ue8m0,
  Ue8m0x2,
};
/// "u32" -> U32; None where it is no type.
Scalar scalar_of(std::string_view word);
int bits_of(Scalar type);
bool is_float(Scalar type);
bool is_signed(Scalar type);

/// Registers whose value is given by the machine: %tid.x and the like.
enum class Special : std::uint8_t {
  None,
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  Laneid,
  Warpid,
  Nwarpid,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  IsExplicitCluster,
  Smid,
  Nsmid,
  Gridid,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  Clock,
  Clock64,
  Globaltimer,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  WarpSize,
  Other,
};

struct PtxOperand {
  enum class Kind : std::uint8_t {
    Sink,  ///< "_"
    Register,
    Immediate,  ///< `immediate`: two's complement, or the bits of a float
    Special,
    Variable,   ///< its address: `index` into Module::variables (+ offset)
    Parameter,  ///< its address: `index` into Function::parameters (+ offset)
    Function,   ///< of a call: its name is `name`
    Label,      ///< resolved to Instruction::targets
    Address,    ///< [parts[0] + offset, parts[1] ...]: a base, then coordinates (a Vector) and what else stands in the brackets
    Vector,     ///< {parts ...}
    Pair,       ///< parts[0] | parts[1]
  };
  Kind kind = Kind::Sink;
  bool negated = false;  ///< "!%p1"
  ptx::Special special = ptx::Special::None;
  RegisterId reg;
  int index = -1;
  std::uint64_t immediate = 0;
  std::int64_t offset = 0;
  std::string_view name;
  std::vector<PtxOperand> parts;
};

/// Where the source stands that an instruction was made of (-lineinfo).
struct SourcePlace {
  int file = 0;  ///< index into Module::files
  int line = 0, column = 0;
  int inlined_into = -1;  ///< index into Function::places; -1: not inlined
  bool operator==(const SourcePlace&) const = default;
};

struct PtxInstruction {
  Opcode opcode = Opcode::Unknown;
  const OpcodeRow* row = nullptr;
  std::string_view mnemonic;            ///< "mbarrier.try_wait.parity.shared::cta.b64"
  std::vector<std::string_view> words;  ///< the mnemonic between its dots
  std::string_view text;                ///< the whole instruction, as it stands
  RegisterId guard;                     ///< @%p1; invalid: always
  bool guard_negated = false;           ///< @!%p1
  std::vector<PtxOperand> operands;
  std::vector<int> targets;  ///< of bra and brx: instructions
  int meet = -1;             ///< the immediate post-dominator, where lanes that part here meet again; code.size(): the end
  int line = 0;              ///< in the PTX, from 1
  int place = -1;            ///< index into Function::places
  std::string fault;         ///< what cannot be read of it ("unknown register %r7"); refused where it is executed

  bool has(std::string_view word) const;
};

/// What an instruction reads and writes of registers, apart from its guard.
struct TouchedRegisters {
  std::vector<RegisterId> read, written;
};
TouchedRegisters registers_of(const PtxInstruction& instruction);

struct RegisterName {
  std::string_view name;
  Scalar type = Scalar::None;
};

struct PtxParameter {
  std::string_view name;
  std::uint64_t at = 0, bytes = 0, align = 1;  ///< in the block of parameters
  bool pointer = false;                        ///< declared with .ptr
};

struct PtxVariable {
  enum class Space : std::uint8_t { Shared, Global, Const, Local };
  std::string_view name;
  Space space = Space::Shared;
  std::uint64_t bytes = 0, align = 1;
  bool external = false;               ///< .extern: as large as the launch says
  std::vector<std::uint8_t> contents;  ///< initial bytes; empty: zero or unknown
};

struct PtxFunction {
  std::string_view name;
  bool entry = false;
  std::vector<PtxParameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::vector<RegisterName> registers;
  std::vector<PtxInstruction> code;
  std::vector<int> leaders;  ///< first instructions of basic blocks, rising
  std::vector<SourcePlace> places;
  std::uint32_t threads[3] = {0, 0, 0};  ///< .reqntid, or .maxntid where that is all; 0: not said
  bool threads_required = false;
  std::uint32_t cluster[3] = {0, 0, 0};  ///< .reqnctapercluster
  std::uint32_t maxnreg = 0;
  /// Registers whose value control flow, addresses, barriers or what launches work hangs on; by RegisterId. The others are only arithmetic.
  std::vector<bool> needed;
};

struct PtxModule {
  std::shared_ptr<const std::string> text;  ///< what all string_views point into
  std::string version, target;              ///< "9.0", "sm_90a"
  std::vector<std::string> files;           ///< of .file, by number
  std::vector<PtxVariable> variables;
  std::vector<PtxFunction> functions;

  const PtxFunction* find(std::string_view name) const;
};

}  // namespace heddle::ptx
