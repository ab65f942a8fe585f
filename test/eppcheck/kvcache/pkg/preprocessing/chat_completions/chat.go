// Package preprocessing stands in for the package of this name in llm-d-kv-cache-manager; see
// kvcache.
package preprocessing

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	Role    string
	Content string
}

// RenderJinjaTemplateRequest is a conversation to be made into a prompt.
type RenderJinjaTemplateRequest struct {
	Conversations             []ChatMessage
	Tools                     []any
	Documents                 []any
	ChatTemplate              string
	ReturnAssistantTokensMask bool
	ContinueFinalMessage      bool
	AddGenerationPrompt       bool
	ChatTemplateKWArgs        map[string]any
}
