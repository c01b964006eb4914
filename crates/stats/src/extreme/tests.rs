use super::*;
use crate::random::Random;
use super::optimise::minimise;
use statrs::distribution::{Normal, ContinuousCDF};

fn pct(s: &[f64], p: f64) -> f64 { let n=s.len() as f64; let r=((p*(n+1.0)).round() as usize).clamp(1,s.len()); s[r-1] }

fn profile(x:&[f64], fit:&Gev, r:f64) -> (f64,f64) {
    // nll given level z: mu = z - s*expm1(xi ln r)/xi
    let best = fit.log_likelihood(x);
    let y = r.ln();
    let prof = |z: f64, start: [f64;2]| {
        let f = |p:&[f64;2]| { let s=p[0].exp()*fit.scale; let xi=p[1]; if !(-0.95..=2.0).contains(&xi) {return f64::INFINITY;} let g=Gev{location: z - s*(if xi==0.0 {y} else {(xi*y).exp_m1()/xi}), scale:s, shape:xi}; -g.log_likelihood(x)};
        let p=minimise(f,start,0.1,1e-6); (f(&p),p)
    };
    let l0=fit.return_level(r);
    let mut out=[0.0;2];
    for (k,dir) in [(0usize,-1.0),(1,1.0)] {
        let mut step=0.3*fit.scale; let mut z=l0; let mut st=[0.0,fit.shape];
        let mut prev=l0;
        for _ in 0..60 { let zn=z+dir*step; let (v,p)=prof(zn,st); if v - (-best) > 1.92 || !v.is_finite() { // bisect
                let (mut a,mut b)=(z,zn); for _ in 0..12 { let m=(a+b)/2.0; let (v,_)=prof(m,st); if v+best>1.92||!v.is_finite() {b=m} else {a=m} } prev=(a+b)/2.0; break; }
            z=zn; st=p; step*=1.4; prev=z; }
        out[k]=prev;
    }
    (out[0],out[1])
}

#[test]
fn coverage() {
    let mut random = Random::new(2);
    let norm=Normal::standard();
    for n in [50, 100, 400] { for shape in [-0.4, -0.2, 0.0, 0.2, 0.4] {
        let g = Gev { location: 20_000.0, scale: 3_000.0, shape };
        for m in [1.0, 10.0] {
            let ahead = n as f64 * m;
            let truth = g.return_level(ahead);
            let reps = 200;
            let mut miss=[[0;2];5];
            let mut width=[0.0;5];
            for _ in 0..reps {
                let mut x: Vec<f64> = (0..n).map(|_| g.draw(&mut random)).collect();
                x.sort_by(f64::total_cmp);
                let fit=Gev::fit(&x); let refits=fit.refits(&x); let l=fit.return_level(ahead);
                let mut lv: Vec<f64> = (0..400).map(|_| { let mut s: Vec<f64>=(0..n).map(|_| fit.draw(&mut random)).collect(); s.sort_by(f64::total_cmp); refits.fit(&s).return_level(ahead)}).collect();
                lv.sort_by(f64::total_cmp);
                let perc=(pct(&lv,0.025),pct(&lv,0.975));
                let z0=norm.inverse_cdf((lv.iter().filter(|v| **v<l).count() as f64+0.5)/401.0);
                let bc=(pct(&lv,norm.cdf(2.0*z0-1.96)),pct(&lv,norm.cdf(2.0*z0+1.96)));
                let c=fit.location; let h=|v:f64| (v-c).max(1e-9).ln(); 
                let basic=(c+(2.0*h(l)-h(perc.1)).exp(), c+(2.0*h(l)-h(perc.0)).exp());
                let max=x[n-1];
                let mixd=(perc.0.min(basic.0).min(bc.0), perc.1.max(basic.1).max(bc.1).max(max));
                let pl=profile(&x,&fit,ahead);
                for (k,(lo,hi)) in [perc,bc,basic,mixd,pl].into_iter().enumerate() { if hi<truth {miss[k][0]+=1} if lo>truth {miss[k][1]+=1} width[k]+=(hi-lo)/g.scale; }
            }
            let s: Vec<String>=(0..5).map(|k| format!("{:.3}/{:.3} w{:.1}", miss[k][0] as f64/reps as f64, miss[k][1] as f64/reps as f64, width[k]/reps as f64)).collect();
            eprintln!("n {n} {shape} x{m}: perc {} | bc {} | basiclog {} | outer {} | prof {}", s[0],s[1],s[2],s[3],s[4]);
        }
    } }
}
