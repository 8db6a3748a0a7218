#include "ptx/text/operand_count.h"

namespace heddle::ptx {

std::size_t least_operands(Opcode opcode) {
  using enum Opcode;
  switch (opcode) {
    case Bfi:
    case Lop3: return 5;
    case Bfe:
    case Dp2a:
    case Dp4a:
    case Fma:
    case Fns:
    case Mad:
    case Mad24:
    case Madc:
    case Mma:
    case MmaSparse:
    case Prmt:
    case Sad:
    case Selp:
    case Shf:
    case Shfl:
    case Slct:
    case Tcgen05Mma:
    case Tcgen05MmaWs:
    case WgmmaMma:
    case WgmmaMmaSparse:
    case WmmaMma: return 4;
    case Add:
    case Addc:
    case And:
    case Atom:
    case BarRed:
    case Bmsk:
    case Copysign:
    case CpAsync:
    case CpAsyncBulk:
    case CpReduceAsyncBulk:
    case Div:
    case Mapa:
    case Match:
    case Max:
    case MbarrierTestWait:
    case MbarrierTryWait:
    case Min:
    case Mul:
    case Mul24:
    case Or:
    case RedAsync:
    case Redux:
    case Rem:
    case Set:
    case Setp:
    case Shl:
    case Shr:
    case StAsync:
    case Sub:
    case Subc:
    case Szext:
    case Vote:
    case Xor: return 3;
    case Abs:
    case BarArrive:
    case Bfind:
    case Brev:
    case Brx:
    case ClcQueryCancel:
    case ClcTryCancel:
    case Clz:
    case Cnot:
    case Cos:
    case CpAsyncBulkTensor:
    case CpReduceAsyncBulkTensor:
    case Cvt:
    case Cvta:
    case Elect:
    case Ex2:
    case Getctarank:
    case Isspacep:
    case Ld:
    case Ldmatrix:
    case Ldu:
    case Lg2:
    case MbarrierCompleteTx:
    case MbarrierExpectTx:
    case MbarrierInit:
    case MbarrierPendingCount:
    case Mov:
    case Movmatrix:
    case Neg:
    case Not:
    case Popc:
    case Rcp:
    case Red:
    case Rsqrt:
    case Sin:
    case Sqrt:
    case St:
    case StBulk:
    case Stmatrix:
    case Tanh:
    case Tcgen05Alloc:
    case Tcgen05Cp:
    case Tcgen05Dealloc:
    case Tcgen05Ld:
    case Tcgen05St:
    case Testp:
    case WmmaLoad:
    case WmmaStore: return 2;
    case Activemask:
    case Bar:
    case BarWarpSync:
    case Bra:
    case CpAsyncBulkPrefetch:
    case CpAsyncBulkWait:
    case CpAsyncMbarrierArrive:
    case CpAsyncWaitGroup:
    case Createpolicy:
    case MbarrierArrive:
    case MbarrierArriveDrop:
    case MbarrierInval:
    case Setmaxnreg:
    case Tcgen05Commit:
    case Tcgen05Shift:
    case WgmmaWait: return 1;
    default: return 0;
  }
}

}  // namespace heddle::ptx
