package lang

import (
	"sort"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Function is one row of the table.
type Function struct {
	Name string
	// Doc is one sentence for the reference page.
	Doc  string
	Func function.Function
}

// World is what the functions that are not pure may use.
type World struct {
	// Dir is what relative paths are relative to.
	Dir string
	// Read returns a file's content; the reader sets the limits.
	Read func(path string) ([]byte, error)
	// Env looks a variable of the process environment up.
	Env func(name string) (string, bool)
}

// Functions is the table, sorted by name.
func Functions(w World) []Function {
	var all []Function
	for _, part := range [][]Function{textTable(), numberTable(), collectionTable(), encodingTable(), fileTable(w), valueTable()} {
		all = append(all, part...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// textTable: functions of texts.
func textTable() []Function {
	return []Function{
		{"base64decode", "The UTF-8 text behind Base64.", base64DecodeFunc()},
		{"base64encode", "A text in Base64.", base64EncodeFunc()},
		{"chomp", "A text without the newlines at its end.", stdlib.ChompFunc},
		{"endswith", "True when the text ends with the suffix.", endsWithFunc()},
		{"format", "A text by a printf-like format.", guarded(stdlib.FormatFunc, formatCheck)},
		{"formatlist", "A list of texts by a printf-like format.", guarded(stdlib.FormatListFunc, formatCheck)},
		{"indent", "A text with its lines, from the second on, indented.", guarded(stdlib.IndentFunc, indentCheck)},
		{"join", "Texts put together with a separator.", guarded(stdlib.JoinFunc, joinCheck)},
		{"lower", "A text in lower case.", stdlib.LowerFunc},
		{"md5", "The MD5 of a text in hexadecimal.", md5Func()},
		{"regex", "The first match of a regular expression.", stdlib.RegexFunc},
		{"regexall", "All matches of a regular expression.", stdlib.RegexAllFunc},
		{"replace", "A text with parts replaced; /…/ is a regular expression.", replaceFunc()},
		{"sha1", "The SHA-1 of a text in hexadecimal.", sha1Func()},
		{"sha256", "The SHA-256 of a text in hexadecimal.", sha256Func()},
		{"split", "A text cut at a separator.", stdlib.SplitFunc},
		{"startswith", "True when the text begins with the prefix.", startsWithFunc()},
		{"strcontains", "True when the text holds the other.", strContainsFunc()},
		{"strrev", "A text backwards.", stdlib.ReverseFunc},
		{"substr", "Part of a text.", stdlib.SubstrFunc},
		{"title", "A text with every word capitalised.", stdlib.TitleFunc},
		{"trim", "A text without the given characters at both ends.", stdlib.TrimFunc},
		{"trimprefix", "A text without a prefix.", stdlib.TrimPrefixFunc},
		{"trimspace", "A text without white space at both ends.", stdlib.TrimSpaceFunc},
		{"trimsuffix", "A text without a suffix.", stdlib.TrimSuffixFunc},
		{"upper", "A text in upper case.", stdlib.UpperFunc},
		{"urlencode", "A text for use in a URL's query.", urlEncodeFunc()},
	}
}

// numberTable: functions of numbers.
func numberTable() []Function {
	return []Function{
		{"abs", "The absolute value of a number.", stdlib.AbsoluteFunc},
		{"ceil", "The next whole number up.", stdlib.CeilFunc},
		{"floor", "The next whole number down.", stdlib.FloorFunc},
		{"int", "A number without its fraction.", stdlib.IntFunc},
		{"log", "The logarithm of a number to a base.", stdlib.LogFunc},
		{"max", "The greatest of the numbers.", stdlib.MaxFunc},
		{"min", "The least of the numbers.", stdlib.MinFunc},
		{"parseint", "A number from a text in a base.", stdlib.ParseIntFunc},
		{"pow", "A number to the power of another.", stdlib.PowFunc},
		{"signum", "-1, 0 or 1 by a number's sign.", stdlib.SignumFunc},
		{"sum", "The sum of a list or set of numbers.", sumFunc()},
	}
}

// collectionTable: functions of lists, sets, maps and objects.
func collectionTable() []Function {
	return []Function{
		{"alltrue", "True when every element is true.", allTrueFunc()},
		{"anytrue", "True when any element is true.", anyTrueFunc()},
		{"chunklist", "A list cut into lists of a given length.", stdlib.ChunklistFunc},
		{"coalesce", "The first argument that is not null.", stdlib.CoalesceFunc},
		{"coalescelist", "The first list that is not empty.", stdlib.CoalesceListFunc},
		{"compact", "A list of texts without the empty ones.", stdlib.CompactFunc},
		{"concat", "Lists put one after the other.", stdlib.ConcatFunc},
		{"contains", "True when a list or set holds the value.", stdlib.ContainsFunc},
		{"distinct", "A list without repetitions.", stdlib.DistinctFunc},
		{"element", "An element of a list; the index wraps around.", stdlib.ElementFunc},
		{"flatten", "Nested lists as one list.", stdlib.FlattenFunc},
		{"index", "The position of a value in a list.", indexFunc()},
		{"keys", "The keys of a map or object, sorted.", stdlib.KeysFunc},
		{"length", "The number of elements, or of characters of a text.", lengthFunc()},
		{"lookup", "An element of a map, or the third argument when there is none.", stdlib.LookupFunc},
		{"merge", "Maps or objects laid over each other, the last one on top.", stdlib.MergeFunc},
		{"one", "The only element of a list or set, null when it is empty.", oneFunc()},
		{"range", "The numbers from a start to below a limit.", stdlib.RangeFunc},
		{"reverse", "A list backwards.", stdlib.ReverseListFunc},
		{"setintersection", "The elements that all sets hold.", stdlib.SetIntersectionFunc},
		{"setproduct", "Every combination of elements.", guarded(stdlib.SetProductFunc, productCheck)},
		{"setsubtract", "The elements of the first set that the second does not hold.", stdlib.SetSubtractFunc},
		{"setunion", "The elements of all sets.", stdlib.SetUnionFunc},
		{"slice", "Part of a list.", stdlib.SliceFunc},
		{"sort", "A list of texts in order.", stdlib.SortFunc},
		{"values", "The values of a map or object, by sorted key.", stdlib.ValuesFunc},
		{"zipmap", "A map from a list of keys and a list of values.", stdlib.ZipmapFunc},
	}
}

// encodingTable: functions of encodings and times.
func encodingTable() []Function {
	return []Function{
		{"csvdecode", "The rows of a CSV text as a list of objects.", stdlib.CSVDecodeFunc},
		{"jsondecode", "The value behind a JSON text.", guarded(stdlib.JSONDecodeFunc, jsonCheck)},
		{"jsonencode", "A value as JSON.", stdlib.JSONEncodeFunc},
		{"yamldecode", "The value behind one YAML document.", yamlDecodeFunc()},
		{"yamlencode", "A value as YAML.", yamlEncodeFunc()},
		{"formatdate", "A timestamp in another format.", stdlib.FormatDateFunc},
		{"timeadd", "A timestamp plus a duration.", stdlib.TimeAddFunc},
	}
}

// fileTable: functions of files, paths and the environment.
func fileTable(w World) []Function {
	return []Function{
		{"abspath", "A path made absolute.", abspathFunc(w)},
		{"basename", "The last element of a path.", basenameFunc()},
		{"dirname", "A path without its last element.", dirnameFunc()},
		{"env", "A variable of the process environment, or the second argument when it is not set.", envFunc(w)},
		{"file", "The content of a UTF-8 text file.", fileFunc(w)},
		{"filebase64", "The content of a file in Base64.", fileBase64Func(w)},
		{"fileexists", "True when the path is a regular file.", fileExistsFunc(w)},
		{"filesha256", "The SHA-256 of a file in hexadecimal.", fileSHA256Func(w)},
		{"pathexpand", "A path with ~ replaced by the home directory.", pathExpandFunc(w)},
		{"templatefile", "A file rendered as a template with the given variables.", templateFileFunc(w)},
	}
}

// valueTable: functions of types, marks and errors.
func valueTable() []Function {
	return []Function{
		{"can", "True when the expression evaluates without an error.", tryfunc.CanFunc},
		{"issensitive", "True when the value is marked as sensitive.", isSensitiveFunc()},
		{"nonsensitive", "A value that may be shown although it comes from a sensitive one.", nonSensitiveFunc()},
		{"sensitive", "A value that is never shown.", sensitiveFunc()},
		{"tobool", "A value as a bool.", stdlib.MakeToFunc(cty.Bool)},
		{"tolist", "A value as a list.", stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType))},
		{"tomap", "A value as a map.", stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType))},
		{"tonumber", "A value as a number.", stdlib.MakeToFunc(cty.Number)},
		{"toset", "A value as a set.", stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType))},
		{"tostring", "A value as a text.", stdlib.MakeToFunc(cty.String)},
		{"try", "The first expression that evaluates without an error.", tryfunc.TryFunc},
	}
}

// Map is the table as an evaluation context wants it.
func Map(table []Function) map[string]function.Function {
	out := make(map[string]function.Function, len(table))
	for _, f := range table {
		out[f.Name] = f.Func
	}
	return out
}
