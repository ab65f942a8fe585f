module github.com/llm-d/llm-d-kv-cache-manager

go 1.26.0
