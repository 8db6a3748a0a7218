#!/bin/sh
# Measures the shipped kernels on the GPU of this machine and writes a measurement file for each (heddle.measurement/1), and a
# machine file with measured costs. Needs an H100 or H200, its driver, and the CUDA toolkit's NVRTC; neither Z3 nor a display. cuBLAS
# and cuDNN 9 are timed beside the kernels where they are installed (HEDDLE_CUBLAS and HEDDLE_CUDNN name others); where not, the files
# say so. With the package for servers (scripts/package.sh makes it), in its folder:
#
#   bin/heddle-measure bin/heddle h200 measurements
#
# usage: measure.sh HEDDLE MACHINE FOLDER        exits 77 where there is no GPU
set -u
if [ $# -ne 3 ]; then
  sed -n '2,/^# usage/s/^# \{0,1\}//p' "$0"
  exit 2
fi
heddle=$1 machine=$2 folder=$3
root=$(cd "$(dirname "$0")/.." && pwd)
schedules=$root/tests/schedules   # the package has schedules of the same kernels, as KERNEL/MACHINE
mkdir -p "$folder"
worst=0

# measure NAME COMMAND KERNEL SCHEDULE [options]
measure() {
  name=$1 command=$2 kernel=$3 schedule=$4
  shift 4
  echo "== $name"
  if [ -d "$schedules" ]; then schedule=$schedules/$schedule; else schedule=$kernel/$machine; fi
  "$heddle" "$command" "$kernel" "$machine" "$schedule" --out "$folder/$name.json" "$@" 2>"$folder/$name.log"
  code=$?
  if [ $code -eq 6 ]; then
    tail -1 "$folder/$name.log"
    exit 77
  fi
  [ $code -eq 0 ] || worst=$code
}

attention="attention_forward_hopper_h100.json"
measure gemm-8192              run     gemm_hopper              gemm_hopper_h100.json -p M=8192 -p N=8192 -p K=8192
measure gemm-4096              run     gemm_hopper              gemm_hopper_h100.json -p M=4096 -p N=4096 -p K=4096
measure attention-d128-8k      run     attention_forward_hopper "$attention" -p HEADS=32 -p Q_LEN=8192 -p KV_LEN=8192
measure attention-d128-16k     run     attention_forward_hopper "$attention" -p HEADS=16 -p Q_LEN=16384 -p KV_LEN=16384
measure attention-causal-8k    run     attention_forward_causal_hopper attention_forward_causal_hopper_h100.json -p HEADS=32 -p Q_LEN=8192 -p KV_LEN=8192
measure swiglu-8192            run     swiglu_dual_gemm_hopper  swiglu_dual_gemm_hopper_h100.json
measure layernorm              run     layernorm                layernorm_h100.json
measure gemm-8192-profile      profile gemm_hopper              gemm_hopper_h100.json -p M=8192 -p N=8192 -p K=8192 --no-verify --trace "$folder/gemm-8192-trace.json"
measure attention-d128-8k-profile profile attention_forward_hopper "$attention" -p HEADS=32 -p Q_LEN=8192 -p KV_LEN=8192 --no-verify --trace "$folder/attention-d128-8k-trace.json"

echo "== calibrate"
"$heddle" calibrate "$machine" --out "$folder/$machine-measured.json" || worst=$?
exit "$worst"
