
!/host:CUPTIHost Threads/1
ß/device:GPU:0PStream #14(Compute,Memset)üÇ«µÜëìõ"Ø¾‚€ŠP"	"8"ØÜ‚ƒ€ö,cXLA Ops"Ø¾‚€ŠP"loop_fusion"
Memset*		correlation_id*
hlo_op*all-reduce.3