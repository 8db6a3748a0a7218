#!/usr/bin/env bash
# Makes the pictures of README.md, docs/tour.md and docs/ptx.md with the program itself, off screen; no display is needed.
# Usage: scripts/pictures.sh [NAME...]   only these, for example: scripts/pictures.sh steady explain
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
gui=${HEDDLE_GUI:-build/release/heddle-gui}
[[ -x $gui ]] || { echo "build heddle-gui first (./run.sh), or set HEDDLE_GUI" >&2; exit 6; }
folder=assets/screenshots
attention=(attention_forward_hopper h100 --solve --size 1600x900)
wanted=("$@") made=0

# picture NAME ARGUMENT...
picture() {
  local name=$1
  shift
  if ((${#wanted[@]})) && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  "$gui" "$@" --screenshot "$folder/$name.png" >/dev/null
  made=$((made + 1))
  echo "$folder/$name.png" >&2
}

picture steady "${attention[@]}" --mode steady --select exp0
picture unrolled "${attention[@]}" --mode unrolled
picture pipeline "${attention[@]}" --mode pipeline
picture barriers "${attention[@]}" --mode steady --do barriers --select QK1
picture machine gemm_hopper h100 --solve --size 1600x900 --tab machine
picture family attention_forward_tile_hopper h100 --solve --size 1600x900 --tab family --do click:family/vary/subtile:Q_ROWS=1,2 --do ask_family
picture editor gemm_hopper h100 --solve --size 1600x900 --mode pipeline --iterations 4 --select MMA1 --do edit_kernel
picture welcome --welcome --size 1600x900
picture drag "${attention[@]}" --do drag:gantt/bar/QK1@0:70:0
picture explain attention_forward_blackwell b200 --solve --size 1600x900 --do explain --do click:explain/show/0
picture slack "${attention[@]}" --do whiskers --do slack --do ask_slack
picture what_if "${attention[@]}" --select exp0 --do what_if --do ask_latency
picture pareto "${attention[@]}" --do pareto --do ask_pareto
picture sensitivity "${attention[@]}" --do sensitivity --do ask_sensitivity
picture compare attention_forward_hopper h100 --solve --size 1600x900 --schedule tests/schedules/attention_ping_pong.json --do set_b --do compare
picture graph "${attention[@]}" --do graph --do maximize
picture pipeline_text "${attention[@]}" --do pipeline_text --do maximize
picture cuda "${attention[@]}" --select QK1 --do cuda
picture palette "${attention[@]}" --do find --do type:sl
picture triton kernels/triton/attention_forward.sm90.ttgir --size 1600x1000
picture ptx assets/ptx/hanging_gemm.ptx --size 1600x900 --do click:launch/finding/0
picture light "${attention[@]}" --theme light
((made)) || { echo "no picture of that name" >&2; exit 2; }
