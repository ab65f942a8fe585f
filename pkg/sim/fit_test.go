package sim
import ("testing";"time";"fmt")
type pub struct{name string; in,out int; rps float64; w,c int; tps,ttft,itl float64; reqs int; cache int}
var rows=[]pub{
{"SG512",512,512,140,120,70,66194.8,1677.87,160.33,32400,0},
{"GB512",512,512,140,130,70,64695.1,1774.9,164.32,32400,0},
{"SG1000",1000,1000,80,140,110,61828.9,1802.87,172.16,32400,0},
{"GB1000",1000,1000,80,150,120,61418.55,2149.8,173.63,32400,0},
{"SG2000",2000,2000,48,300,230,51187.87,2567.87,208.59,32400,0},
{"GB2000",2000,2000,60,260,240,50892.65,5586.34,208.76,32400,0},
{"GB2000-100",2000,100,1500,30,20,53776.62,1079.36,191.71,223000,1000},
}
func TestFit(t *testing.T){
 for _,r:=range rows {
  t0:=time.Now()
  x:=Predict(Load{Preset:"mi300x-r1",Requests:r.reqs,InputTokens:r.in,OutputTokens:r.out,Rate:r.rps,Concurrency:10800,PrefillRanks:16,DecodeRanks:24,Warmup:time.Duration(r.w)*time.Second,Cooldown:time.Duration(r.c)*time.Second,Seed:1,DistinctPrompts:r.cache,PrefixCaching:r.cache>0})
  ms:=func(d time.Duration) float64 {return float64(d)/1e6}
  fmt.Printf("%-11s win %6.1f req %6d tps %8.0f (%+.1f%%) itl %6.1f (%+.1f%%) p1 %4.0f p10 %4.0f p50 %4.0f p90 %4.0f ttft %6.0f (pub %5.0f) p10 %5.0f p50 %5.0f p90 %5.0f pre %d %v\n",r.name,x.Window.Seconds(),x.Requests,x.OutputPerSecond,100*(x.OutputPerSecond/r.tps-1),ms(x.ITL.Mean),100*(ms(x.ITL.Mean)/r.itl-1),ms(x.ITL.P1),ms(x.ITL.P10),ms(x.ITL.P50),ms(x.ITL.P90),ms(x.TTFT.Mean),r.ttft,ms(x.TTFT.P10),ms(x.TTFT.P50),ms(x.TTFT.P90),x.Preemptions,time.Since(t0).Round(time.Millisecond))
 }
}
