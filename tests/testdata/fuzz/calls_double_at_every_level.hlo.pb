
m.
leaf"
parameter.1	parameter˜(0p
c2"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c3"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c4"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c5"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c6"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c7"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c8"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0p
c9"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(	0q
c10"
parameter.1	parameter˜ 
call.2call˜¢²	 
call.3call˜¢²	(
0q
c11"
parameter.1	parameter˜ 
call.2call˜¢²
 
call.3call˜¢²
(0q
c12"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c13"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c14"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c15"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c16"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c17"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c18"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c19"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c20"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c21"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c22"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c23"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c24"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c25"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c26"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c27"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c28"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c29"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c30"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c31"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²(0q
c32"
parameter.1	parameter˜ 
call.2call˜¢² 
call.3call˜¢²( 0q
c33"
parameter.1	parameter˜ 
call.2call˜¢²  
call.3call˜¢² (!0q
c34"
parameter.1	parameter˜ 
call.2call˜¢²! 
call.3call˜¢²!("0q
c35"
parameter.1	parameter˜ 
call.2call˜¢²" 
call.3call˜¢²"(#0q
c36"
parameter.1	parameter˜ 
call.2call˜¢²# 
call.3call˜¢²#($0q
c37"
parameter.1	parameter˜ 
call.2call˜¢²$ 
call.3call˜¢²$(%0q
c38"
parameter.1	parameter˜ 
call.2call˜¢²% 
call.3call˜¢²%(&0q
c39"
parameter.1	parameter˜ 
call.2call˜¢²& 
call.3call˜¢²&('0q
c40"
parameter.1	parameter˜ 
call.2call˜¢²' 
call.3call˜¢²'((0q
c41"
parameter.1	parameter˜ 
call.2call˜¢²( 
call.3call˜¢²(()0q
c42"
parameter.1	parameter˜ 
call.2call˜¢²) 
call.3call˜¢²)(*0q
c43"
parameter.1	parameter˜ 
call.2call˜¢²* 
call.3call˜¢²*(+0q
c44"
parameter.1	parameter˜ 
call.2call˜¢²+ 
call.3call˜¢²+(,0q
c45"
parameter.1	parameter˜ 
call.2call˜¢², 
call.3call˜¢²,(-0q
c46"
parameter.1	parameter˜ 
call.2call˜¢²- 
call.3call˜¢²-(.0q
c47"
parameter.1	parameter˜ 
call.2call˜¢². 
call.3call˜¢².(/0q
c48"
parameter.1	parameter˜ 
call.2call˜¢²/ 
call.3call˜¢²/(00q
c49"
parameter.1	parameter˜ 
call.2call˜¢²0 
call.3call˜¢²0(10q
c50"
parameter.1	parameter˜ 
call.2call˜¢²1 
call.3call˜¢²1(20q
c51"
parameter.1	parameter˜ 
call.2call˜¢²2 
call.3call˜¢²2(30q
c52"
parameter.1	parameter˜ 
call.2call˜¢²3 
call.3call˜¢²3(40q
c53"
parameter.1	parameter˜ 
call.2call˜¢²4 
call.3call˜¢²4(50q
c54"
parameter.1	parameter˜ 
call.2call˜¢²5 
call.3call˜¢²5(60q
c55"
parameter.1	parameter˜ 
call.2call˜¢²6 
call.3call˜¢²6(70q
c56"
parameter.1	parameter˜ 
call.2call˜¢²7 
call.3call˜¢²7(80q
c57"
parameter.1	parameter˜ 
call.2call˜¢²8 
call.3call˜¢²8(90q
c58"
parameter.1	parameter˜ 
call.2call˜¢²9 
call.3call˜¢²9(:0q
c59"
parameter.1	parameter˜ 
call.2call˜¢²: 
call.3call˜¢²:(;0q
c60"
parameter.1	parameter˜ 
call.2call˜¢²; 
call.3call˜¢²;(<0q
c61"
parameter.1	parameter˜ 
call.2call˜¢²< 
call.3call˜¢²<(=00=